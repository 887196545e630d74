import { request } from "node:http";
import { buffer } from "node:stream/consumers";
import { serve } from "@/tests/support/loopback";
import { refresh } from "@/tests/support/owner";
import type { Service } from "@/tests/support/service";

const faults = ["dropped", "cut", "late"] as const;

/** The fate of the answers that a renewing app should have got. */
export type Answers = Record<(typeof faults)[number] | "arrived" | "refused", number>;

/**
 * Renews a session's tokens through a loopback proxy in front of several instances, which spoils every third answer: it
 * drops it, cuts it in half, or keeps it until its client has gone. The app sends the same token again until an answer
 * arrives. Stops at the first refusal.
 *
 * @returns the newest refresh token, and what happened to the answers
 */
export async function renewThroughFaults(
  services: readonly Service[],
  refreshToken: string,
  times: number,
): Promise<{ refreshToken: string; answers: Answers }> {
  const answers: Answers = { arrived: 0, dropped: 0, cut: 0, late: 0, refused: 0 };
  let leave = () => {};
  let requests = 0;
  const proxy = await serve(async (incoming, outgoing) => {
    const turn = requests++;
    const fault = turn % 3 === 2 ? faults[Math.floor(turn / 3) % 3] : undefined;
    const body = await buffer(incoming);
    const port = services[turn % services.length]?.port;
    const { method, url: path, headers } = incoming;
    const onward = request(
      { host: "127.0.0.1", port, method, path, headers, agent: false },
      async (answer) => {
        const content = await buffer(answer);
        if (fault) answers[fault]++;
        if (fault === "late") return leave();
        if (fault === "dropped") return incoming.socket.destroy();
        outgoing.writeHead(answer.statusCode ?? 0, { ...answer.headers, "content-length": content.length });
        if (fault === undefined) outgoing.end(content);
        else outgoing.write(content.subarray(0, content.length / 2), () => incoming.socket.destroy());
      },
    );
    onward.end(body);
  });
  let token = refreshToken;
  while (answers.arrived < times && answers.refused === 0) {
    const patience = new AbortController();
    leave = () => patience.abort();
    try {
      const response = await fetch(`${proxy.url}/oauth/token`, {
        method: "POST",
        body: new URLSearchParams({
          grant_type: "refresh_token",
          client_id: "native",
          refresh_token: token,
        }),
        signal: patience.signal,
      });
      const answer = JSON.parse(await response.text());
      answers[response.ok ? "arrived" : "refused"]++;
      token = answer.refresh_token ?? token;
    } catch {
      // The answer was lost: the app cannot know whether the token was used.
    }
  }
  await proxy.stop();
  return { refreshToken: token, answers };
}

/**
 * Renews a session's tokens from five processes at once, each time with one refresh token, at all instances in turn.
 *
 * @returns the statuses of all answers, with how often each was sent, and the newest refresh tokens
 */
export async function renewFiveAtOnce(
  services: readonly Service[],
  refreshToken: string,
  rounds: number,
): Promise<{ statuses: Record<number, number>; refreshTokens: string[] }> {
  const statuses: Record<number, number> = {};
  let refreshTokens = [refreshToken];
  for (let round = 0; round < rounds; round++) {
    const refresh_token = refreshTokens[round % refreshTokens.length] ?? "";
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, n) => refresh(services[n % services.length] as Service, refresh_token)),
    );
    for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
    refreshTokens = answers.flatMap(({ text }) => JSON.parse(text).refresh_token ?? []);
    if (refreshTokens.length === 0) break;
  }
  return { statuses, refreshTokens };
}
