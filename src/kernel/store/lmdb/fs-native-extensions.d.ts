declare module "fs-native-extensions" {
  /** False when another open file holds a lock on the range. */
  export function tryLock(fd: number, offset: number, length: number): boolean;
}
