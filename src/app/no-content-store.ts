// The content store of a custom storage that has none: says so to whoever wants to use it.

import {
  type ContentReferences,
  type ContentStore,
  HeddleError,
  type StoredContent,
  type SweptContent,
} from "../kernel/index.js";

export class NoContentStore implements ContentStore {
  put = (): Promise<StoredContent> => refused();
  get = (): Promise<Uint8Array | null> => refused();
  stream = (): Promise<AsyncIterable<Uint8Array> | null> => refused();
  has = (): Promise<boolean> => refused();
  references = (): Promise<ContentReferences> => refused();
  delete = (): Promise<boolean> => refused();
  sweep = (): Promise<SweptContent> => refused();
}

async function refused(): Promise<never> {
  throw new HeddleError(
    "CONFIG_INVALID",
    'This storage keeps no content: add a contentStore to { kind: "custom", ... }, or give execution.claimCheck a store.',
    { details: { option: "storage.contentStore" } },
  );
}
