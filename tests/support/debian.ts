import { execFile, execFileSync, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually, isInstalled } from "@/tests/support/databases";
import { createFolder, spawnLeashed } from "@/tests/support/leash";

/** Makes a root's own mounts, and starts systemd there as the first process of its namespaces, without a network. */
const boot = `
mount --bind "$1" "$1"
cd "$1"
mount -t cgroup2 cgroup2 sys
mkdir "sys/$2"
echo $$ > "sys/$2/cgroup.procs"
umount sys
exec unshare --cgroup bash -ec '
  mount -t proc proc proc
  mount -t sysfs -o ro sysfs sys
  mount -t cgroup2 cgroup2 sys/fs/cgroup
  mount -t tmpfs tmpfs run
  mount -t tmpfs tmpfs tmp
  mount -t tmpfs -o mode=755 tmpfs dev
  mkdir dev/shm dev/pts
  mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts dev/pts
  ln -s pts/ptmx dev/ptmx
  ln -s /proc/self/fd dev/fd
  for device in null zero full random urandom tty; do touch dev/$device; mount --bind /dev/$device dev/$device; done
  pivot_root . mnt
  umount -l mnt
  exec env -i container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd'`;

const namespaces = ["--mount", "--pid", "--ipc", "--uts"];

/** Why no root of its own can be started here by these programs; `undefined` if one can. */
export function whyNoRoot(...programs: string[]): string | undefined {
  if (process.getuid?.() !== 0) return "it needs root";
  const missing = programs.find((program) => !isInstalled(program));
  if (missing) return `${missing} is not installed`;
  const probe = `
    mount -t cgroup2 cgroup2 /mnt
    mkdir "/mnt/office-probe-$$" && rmdir "/mnt/office-probe-$$"
    mount -t tmpfs tmpfs /mnt
    cd /mnt
    mkdir lower upper work merged
    mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work overlay merged`;
  const { status } = spawnSync("unshare", [...namespaces, "--net", "--fork", "bash", "-ec", probe]);
  return status === 0 ? undefined : "no namespace with mounts of its own can be made here";
}

/** A Debian that debootstrap has just made, with systemd as its first process and a loopback network of its own. */
export class Debian {
  private constructor(
    readonly root: string,
    private readonly pid: string,
  ) {}

  static async start(suite: string): Promise<Debian> {
    const root = createFolder();
    chmodSync(root, 0o755); // its own users have to pass
    const included = "--include=ca-certificates,dbus,iproute2,systemd-sysv";
    await promisify(execFile)("debootstrap", ["--variant=minbase", included, suite, root], {
      maxBuffer: 2 ** 26,
    });
    const group = `office-${process.pid}`;
    const flags = [
      ...namespaces,
      "--net",
      "--fork",
      "--kill-child",
      "bash",
      "-ec",
      boot,
      "boot",
      root,
      group,
    ];
    const child = spawnLeashed("unshare", flags, { stdio: "ignore" });
    const children = `/proc/${child.pid}/task/${child.pid}/children`;
    const pid = await eventually(() => {
      const [first = ""] = readFileSync(children, "utf8").trim().split(" ");
      execFileSync("nsenter", ["--target", first, "--all", "systemctl", "is-active", "multi-user.target"], {
        stdio: "ignore",
      });
      return first;
    });
    return new Debian(root, pid);
  }

  /**
   * Runs lines of bash there, each of which has to succeed, and returns what they print.
   *
   * @param isOnline - with this machine's network and its ways to the package registries
   */
  async run(lines: string, { isOnline = false } = {}): Promise<string> {
    writeFileSync(join(this.root, "lines"), lines);
    if (isOnline) this.lendRegistries();
    const into = isOnline ? [...namespaces, "--cgroup"] : ["--all"];
    const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    const environment = [
      "env",
      "-i",
      "HOME=/root",
      `PATH=${path}`,
      "NODE_EXTRA_CA_CERTS=/etc/registries.crt",
    ];
    const program = [...environment, "bash", "-exc", ". /lines"];
    const { stdout, stderr } = await promisify(execFile)(
      "nsenter",
      ["--target", this.pid, ...into, ...program],
      {
        maxBuffer: 2 ** 26,
      },
    ).catch((failure) => {
      throw new Error(`${failure.stdout.slice(-4000)}\n${failure.stderr.slice(-4000)}`);
    });
    return stdout + stderr;
  }

  private lendRegistries(): void {
    const { NODE_EXTRA_CA_CERTS = "/dev/null" } = process.env;
    writeFileSync(join(this.root, "etc/registries.crt"), readFileSync(NODE_EXTRA_CA_CERTS));
    const npmrc = join(homedir(), ".npmrc");
    if (existsSync(npmrc)) copyFileSync(npmrc, join(this.root, "root/.npmrc"));
  }
}
