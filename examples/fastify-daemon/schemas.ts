// Schemas: lets Fastify check requests by zod, and gives handlers the types of what was checked.

import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyTypeProvider,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from "fastify";
import type { z } from "zod";
import { RequestInvalid } from "./errors.js";

export interface ZodTypes extends FastifyTypeProvider {
  readonly validator: this["schema"] extends z.ZodType ? z.output<this["schema"]> : unknown;
}

/** A Fastify server whose schemas are zod's. */
export type ZodServer = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypes
>;

export function checkByZod(server: FastifyInstance): ZodServer {
  return server
    .withTypeProvider<ZodTypes>()
    .setValidatorCompiler<z.ZodType>(({ schema, httpPart = "content" }) => (value: unknown) => {
      const checked = schema.safeParse(value);
      return checked.success
        ? { value: checked.data }
        : { error: RequestInvalid.from(httpPart, checked.error) };
    });
}
