import { statSync } from "node:fs";
import { statfs } from "node:fs/promises";

/**
 * File systems of other machines, as statfs(2) numbers them: SQLite's log needs memory that all its readers share, which these
 * do not have (https://sqlite.org/wal.html). Buckets, and the folders of a Mac in its containers, are by FUSE; those of Windows
 * in WSL by 9P.
 */
const shares: Record<number, string> = {
  26985: "NFS", // 0x6969
  16914839: "9P", // 0x01021997
  1702057286: "FUSE", // 0x65735546
  4266872130: "SMB", // 0xfe534d42
  4283649346: "SMB", // 0xff534d42
};

/** The disk of a folder: what this user may still write, all of it, and what kind of share it is if it is one. */
export async function measureDisk(folder: string) {
  const { type, bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, allBytes: blocks * bsize, share: shares[type] };
}

/** The bytes of a file; 0 if there is none. */
export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
