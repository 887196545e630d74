import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Authenticator } from "@/tests/support/authenticator";
import { Browser } from "@/tests/support/browser";
import { createFolder } from "@/tests/support/leash";
import { makeApp, type Tokens } from "@/tests/support/oauth-libraries";
import { answerApp } from "@/tests/support/owner";
import { add, ask, finishAdding, sendAssertion, signInWith, startAdding } from "@/tests/support/passkeys";
import { Service } from "@/tests/support/service";
import type { Experiment } from "./experiment";

const hourMs = 60 * 60 * 1000;

/** The wall clock is set an hour forward and back while owners use passkeys and apps connect and renew. */
export const clockSteps: Experiment = {
  name: "clock-steps",
  async run(see) {
    const file = join(createFolder(), "clock");
    const step = (aheadMs: number) => writeFileSync(file, String(aheadMs));
    step(0);
    const clock = { NODE_OPTIONS: "--import ./tests/faults/wall-clock.mjs", TEST_WALL_CLOCK: file };
    const service = await Service.start({ ...clock, SIGN_IN: "local" });
    const email = "owner@example.com";
    await service.adminJson("account", "add", email, "--plan", "licensed");
    const authenticator = new Authenticator(service.url);
    const owner = await Browser.signIn(service, email);
    await add(owner, authenticator);
    const app = await makeApp(service);
    const connect = async () => {
      const { address, redeem } = await app.ask();
      return { redeem, back: new URL(await answerApp(owner, service, address.href)) };
    };
    const check = ({ access_token }: Tokens) => service.statusFor(access_token);
    const outcome = (work: Promise<unknown>) =>
      work.then(
        () => "goes on",
        ({ error, code }: { error?: string; code?: string }) => `is refused (${error ?? code})`,
      );
    const { redeem, back } = await connect();
    let tokens = await redeem(back);
    const challenge = await ask(owner);
    const options = await startAdding(owner);
    const pending = await connect();
    for (const [name, aheadMs] of [
      ["an hour forward", hourMs],
      ["and back", 0],
      ["an hour back", -hourMs],
      ["and forward", 0],
    ] as const) {
      step(aheadMs);
      const before = await check(tokens);
      tokens = await app.refresh(tokens.refresh_token);
      const after = await check(tokens);
      see({
        what: `the clock ${name}: an app`,
        figure: `reads ${before} with its token, and ${after} after a renewal`,
        holds: after === 200 && [200, 401].includes(before),
      });
      const passkey = new Browser(service);
      const signIn = await signInWith(passkey, authenticator);
      const home = await owner.open("/home");
      see({
        what: `the clock ${name}: sign-in by passkey, an open browser's home`,
        figure: `${signIn.status}, ${home.status}`,
        holds: signIn.status === 200 && home.status === 200,
      });
      // Confirmed by the other clock, so perhaps not within the last five minutes: the owner confirms again.
      const confirmed = await signInWith(owner, authenticator);
      const fresh = await startAdding(owner);
      const connected = await outcome(connect().then((again) => again.redeem(again.back)));
      see({
        what: `the clock ${name}: the owner confirms, adds a passkey, connects an app`,
        figure: `${confirmed.status}, ${fresh.status}, ${connected}`,
        holds: confirmed.status === 200 && fresh.status === 200 && connected === "goes on",
      });
      if (name !== "an hour forward") continue;
      const late = await sendAssertion(new Browser(service), authenticator.get(challenge));
      const added = await finishAdding(
        owner,
        new Authenticator(service.url).create(JSON.parse(options.text)),
      );
      const code = await outcome(pending.redeem(pending.back));
      see({
        what: "challenges and a code of before, an hour later",
        figure: `${late.status}, ${added.status}; the code ${code}`,
        holds: late.status === 400 && added.status === 400 && code === "is refused (invalid_grant)",
      });
    }
    await service.kill();
  },
};
