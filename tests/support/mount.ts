import { execFileSync } from "node:child_process";
import { createFolder } from "@/tests/support/leash";

/** Mounts an empty folder in memory that can be made read-only; `undefined` where a test may not mount. */
export function mountInMemory() {
  const folder = createFolder();
  const mount = (...parameters: string[]) =>
    execFileSync("mount", [...parameters, folder], { stdio: "ignore" });
  try {
    mount("-t", "tmpfs", "-o", "size=64m", "tmpfs");
  } catch {
    return undefined;
  }
  return {
    folder,
    makeWritable: (isWritable: boolean) => mount("-o", `remount,${isWritable ? "rw" : "ro"}`),
    remove: () => execFileSync("umount", ["--lazy", folder]),
  };
}
