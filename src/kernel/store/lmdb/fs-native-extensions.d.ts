declare module "fs-native-extensions" {
  interface LockOptions {
    /** With others that share it, instead of alone. Default false. */
    readonly shared?: boolean;
  }
  /** False when another open file holds a lock on the range, or on any of the file where none is given. */
  export function tryLock(fd: number, options?: LockOptions): boolean;
  export function tryLock(fd: number, offset: number, length: number): boolean;
  export function unlock(fd: number): void;
}
