import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFolder, spawnLeashed } from "@/tests/support/leash";

/** haproxy's name of an instance. */
export const nameOf = (n: number) => `instance-${n + 1}`;

/**
 * Starts haproxy on loopback in front of the instances. It polls `/ready` and names the instance in each response. One
 * 503 removes an instance; one that is only slow, as on a busy machine, stays.
 */
export function startHaproxy(port: number, instances: readonly number[]): void {
  const file = join(createFolder(), "haproxy.cfg");
  const servers = instances.map((instance, n) => `  server ${nameOf(n)} 127.0.0.1:${instance} check`);
  writeFileSync(
    file,
    `defaults
  mode http
  timeout connect 1s
  timeout client 30s
  timeout server 30s
  timeout check 5s
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
  default-server inter 300ms fall 1 rise 1
  http-response set-header x-served-by %s
${servers.join("\n")}
`,
  );
  spawnLeashed("haproxy", ["-q", "-f", file], { stdio: "ignore" });
}
