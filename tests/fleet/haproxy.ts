import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder, spawnLeashed } from "@/tests/support/leash";

/** A haproxy on loopback in front of instances, which asks each for `/ready` and names it in the answer. */
export function startHaproxy(port: number, instances: readonly number[]): void {
  const file = join(makeFolder(), "haproxy.cfg");
  const servers = instances.map((instance, n) => `  server instance-${n + 1} 127.0.0.1:${instance} check`);
  writeFileSync(
    file,
    `defaults
  mode http
  timeout connect 1s
  timeout client 30s
  timeout server 30s
  option forwardfor
  option redispatch
  retries 3
  retry-on conn-failure
frontend office
  bind 127.0.0.1:${port}
  default_backend instances
backend instances
  balance roundrobin
  option httpchk GET /ready
  default-server inter 500ms fall 2 rise 1
  http-response set-header x-served-by %s
${servers.join("\n")}
`,
  );
  spawnLeashed("haproxy", ["-q", "-f", file], { stdio: "ignore" });
}
