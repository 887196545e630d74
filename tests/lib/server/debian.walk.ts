import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "@/tests/support/databases";
import { Debian, whyNoRoot } from "@/tests/support/debian";
import { createFolder } from "@/tests/support/leash";

const readme = readFileSync("lib/server/README.md", "utf8");
const page = readme.slice(0, readme.indexOf("\n## Settings"));
/** The page's blocks of lines, in their order. */
const blocks = [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(([, lines = ""]) => lines);
const [packages = "", build = "", users = "", settings = "", start = "", proxy = "", ...rest] = blocks;
const [firstSteps = "", watching = "", toFile = "", upgrade = "", restore = ""] = rest;

const why = whyNoRoot("debootstrap");
const minutes = 60_000;

describe("the page from an empty Debian to production", () => {
  it("names only files that exist", () => {
    const named = page.match(/lib\/server\/[\w./-]*\w/g) ?? [];
    expect(named.length).toBeGreaterThan(7);
    execFileSync("ls", named);
  });

  if (why)
    process.stdout.write(
      `NOT TRIED: the lines of lib/server/README.md on a Debian, because ${why}`.concat("\n"),
    );
  else
    it(
      "can be walked line by line, from debootstrap on",
      async () => {
        const source = packSource();
        const debian = await Debian.start("trixie");
        cpSync(source, join(debian.root, "source"), { recursive: true });
        writeFileSync(join(debian.root, "etc/hosts"), "127.0.0.1 localhost office.example.com\n");
        const beganMs = performance.now();
        const walk = (lines: string, options = {}) =>
          debian.run(`[ ! -d /srv/office ] || cd /srv/office\n${lines}`, options);

        await walk(packages, { isOnline: true });
        await walk(build.replace(/https:\S+/, "file:///source"), { isOnline: true });
        await walk(users);
        await walk(settings);
        await walk(start);
        await eventually(() => walk("curl --fail --silent http://localhost:3000/ready"));
        await walk("cp lib/server/debian/Caddyfile /etc/caddy/Caddyfile && systemctl restart caddy");
        await eventually(() => walk(trustCaddy));
        expect(await walk(proxy)).toContain("ready\n");
        const said = await walk(firstSteps);
        await walk(watching);
        const tookMinutes = (performance.now() - beganMs) / minutes;
        process.stdout.write(
          `From an empty Debian to production in ${tookMinutes.toFixed(1)} minutes`.concat("\n"),
        );

        // What is still missing, and nothing is wrong.
        expect(said).toContain("http://localhost:3001/");
        expect(said).toContain("✓ store");
        expect(said.match(/^✗.*/gm)).toBeNull();
        expect(await walk("office-admin audit list")).toMatch(/operator root +operator add +ann/);

        // The settings arrive as they are meant.
        expect(await walk("curl --silent https://office.example.com/")).toContain("Example &amp; Sons, Ltd.");
        const listening = await walk("ss -ltnH | awk '{print $4}' | sort -u");
        for (const port of [3000, 3001, 5432, 9090, 9464])
          expect(listening).not.toMatch(new RegExp(`[*0]:${port}$`, "m"));

        // Least rights: what the service cannot do, and what it could if it were taken over.
        await expect(walk("runuser -u office -- psql office -c 'DROP TABLE accounts'")).rejects.toThrow(
          "must be owner",
        );
        await expect(walk("runuser -u office -- psql office -c 'CREATE TABLE x ()'")).rejects.toThrow(
          "permission denied",
        );
        await expect(walk("runuser -u office -- cat /etc/office/owner.env")).rejects.toThrow(
          "Permission denied",
        );
        await walk(
          "systemd-analyze verify office.service office-migrate.service office-backup.service office-backup.timer",
        );
        await walk("systemd-analyze security --threshold=15 office.service");

        // The backup opens without the project, and old ones go with the next.
        const passphrase = ". /etc/office/backup.env; printf '%s' \"$BACKUP_PASSPHRASE\"";
        const old = "/var/lib/office/backups/office-2026-01-01T000000Z.backup";
        expect(await walk("ls /var/lib/office/backups")).toMatch(/^office-\d{4}-\d\d-\d\dT\d{6}Z\.backup$/m);
        await walk(
          `runuser -u office -- touch -d '31 days ago' ${old}\nsystemctl start office-backup\n[ ! -e ${old} ]`,
        );
        expect(await walk(passphrase)).toMatch(/[0-9a-f]{64}/);
        expect(await walk("systemctl list-timers --no-pager")).toContain("office-backup.service");

        // Prometheus reads both.
        await eventually(async () => {
          const up = await walk(
            `curl --silent 'http://localhost:9090/api/v1/query?query=up{job="corner-office"}' --globoff`,
          );
          expect(up).toContain(',"1"]');
        });
        expect(await walk("curl --silent http://localhost:9090/api/v1/rules")).toContain(
          '"name":"StoreGone"',
        );

        // Rotation: lines go on in a new file.
        await walk(toFile);
        const ready = () => eventually(() => walk("curl --fail --silent http://localhost:3000/ready"));
        await ready();
        await walk(
          "logrotate --force /etc/logrotate.d/office && zcat -f /var/log/office/office.log.1* | grep listening",
        );
        await walk(
          'curl --silent http://localhost:3000/ && sleep 1 && grep \'"path":"/"\' /var/log/office/office.log',
        );

        // An upgrade, and back.
        await walk(`cp -a /srv/office /srv/office-next\n${upgrade}`);
        await ready();
        expect(await walk("ls -d /srv/office*")).toContain("/srv/office-before");

        // Back to the last backup: what came after it is gone, and the service has its rights.
        await walk("systemctl start office-backup && office-admin account add late@example.com");
        expect(await walk(restore)).toContain("Restored the backup of ");
        await ready();
        await walk("office-admin account add later@example.com");
        expect(await walk("office-admin account list")).not.toContain("late@example.com");
        expect(await walk("journalctl -u office -p err --no-pager")).not.toMatch(/"level"/);
        process.stdout.write(
          "NOT TRIED there: a certificate from a public authority, DNS, the delivery of mail, a clone over https, a reboot\n",
        );
      },
      25 * minutes,
    );
});

/** The files of this work tree as a repository, with Caddy's own authority in the place of a public one. */
function packSource(): string {
  const folder = createFolder();
  const files = "git ls-files -z --cached --others --exclude-standard | tar --null --create --files-from=-";
  execFileSync("bash", ["-ec", `set -o pipefail; ${files} | tar --extract --directory=${folder}`]);
  const caddyfile = join(folder, "lib/server/debian/Caddyfile");
  writeFileSync(caddyfile, `{\n  local_certs\n}\n${readFileSync(caddyfile, "utf8")}`);
  const git = ["-c", "user.name=drill", "-c", "user.email=drill@example.com"];
  for (const step of [
    ["init", "--quiet"],
    ["add", "--all"],
    ["commit", "--quiet", "--message=source"],
  ])
    execFileSync("git", [...git, ...step], { cwd: folder });
  return folder;
}

const trustCaddy = `cp /var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt /usr/local/share/ca-certificates/caddy.crt
update-ca-certificates`;
