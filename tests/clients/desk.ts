import { type ChildProcess, execFile } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify, stripVTControlCharacters } from "node:util";
import type { Browser } from "@/tests/support/browser";
import { createFolder, spawnLeashed } from "@/tests/support/leash";
import { serve } from "@/tests/support/loopback";
import { answerApp } from "@/tests/support/owner";
import type { Service } from "@/tests/support/service";

/** The timeout of a client: its programs end by themselves, but wait for the owner, and on a busy machine for a processor. */
export const maxMs = 10 * 60_000;

/**
 * An owner's computer with one client on it, in its own home folder. URLs that the client opens are opened in the
 * owner's browser, and the owner approves.
 */
export class Desk {
  readonly home = createFolder();
  /** The ids with which its owner was asked. */
  readonly asked: string[] = [];
  /** The output of all programs run here. */
  said = "";
  private readonly started: ChildProcess[] = [];
  private opener = "";

  private constructor(
    readonly service: Service,
    /** Signs the owner's browser in. */
    private readonly signIn: () => Promise<Browser>,
    /** The URL of the stand-in for models. */
    readonly model: string,
    /** The settings by which its Node programs follow the service's clock. */
    private readonly clock: Record<string, string>,
    /** The folder with the programs of the client. */
    private readonly programs: string,
  ) {}

  /** Fetches a client from npm, before its timeout starts, and sets it up. */
  static async setUp(
    service: Service,
    signIn: () => Promise<Browser>,
    model: string,
    clock: Record<string, string>,
    packages: string[],
  ): Promise<Desk> {
    const wanted = packages.flatMap((name) => ["-p", name]);
    const fetched = await promisify(execFile)("npx", ["-y", ...wanted, "-c", "echo $PATH | cut -d: -f1"]);
    const desk = new Desk(service, signIn, model, clock, fetched.stdout.trim());
    symlinkSync(dirname(desk.programs), join(desk.home, "node_modules"));
    const { url } = await serve(async (request, response) => {
      const address = await text(request);
      response.end();
      desk.approve(address).catch((error) => {
        desk.said += `Not approved: ${address}: ${error}\n`;
      });
    });
    // Some run xdg-open by name, some the program in BROWSER.
    desk.opener = join(desk.home, "bin", "xdg-open");
    mkdirSync(join(desk.home, "bin"));
    writeFileSync(desk.opener, `#!/bin/sh\nexec curl -s --data-raw "$1" ${url}\n`);
    chmodSync(desk.opener, 0o755);
    symlinkSync(desk.opener, join(desk.home, "bin", "x-www-browser"));
    return desk;
  }

  private async approve(address: string): Promise<void> {
    if (!address.startsWith(`${this.service.url}/`)) throw new Error("it is not ours");
    this.asked.push(new URL(address).searchParams.get("client_id") ?? "");
    const back = await answerApp(await this.signIn(), this.service, address);
    await fetch(back, { redirect: "manual" });
  }

  /** Writes a file in the owner's home folder. */
  write(path: string, content: string): void {
    mkdirSync(dirname(join(this.home, path)), { recursive: true });
    writeFileSync(join(this.home, path), content);
  }

  /** Runs a program of the client to its end, and returns its output. */
  run(program: string, parameters: string[], settings: Record<string, string> = {}): Promise<string> {
    const child = this.start(program, parameters, settings);
    child.stdin?.end();
    return this.finish(child);
  }

  /** Runs a program in a terminal, for one that prompts only there. */
  runInTerminal(program: string, parameters: string[]): Promise<string> {
    return this.finish(this.startInTerminal(program, parameters));
  }

  /**
   * Runs a program without an end in a terminal, until its output matches. Presses Enter at its question. Starts it
   * again, up to 25 times, if it ends before or has misunderstood its command.
   */
  async runInTerminalUntil(
    dialogue: { wanted: RegExp; question?: RegExp; misunderstood?: RegExp },
    program: string,
    parameters: string[],
    settings: Record<string, string> = {},
  ): Promise<void> {
    const { wanted, question, misunderstood } = dialogue;
    for (let tries = 0; tries < 25; tries++) {
      const before = this.said.length;
      const child = this.startInTerminal(program, parameters, settings);
      const ended = new Promise<false>((resolve) => child.once("close", () => resolve(false)));
      let isAsked = false;
      const understood = new Promise<boolean>((resolve) => {
        child.stdout?.on("data", () => {
          const said = stripVTControlCharacters(this.said.slice(before));
          if (wanted.test(said)) resolve(true);
          if (misunderstood?.test(said)) resolve(false);
          if (isAsked || !question?.test(said)) return;
          isAsked = true;
          child.stdin?.write("\r");
        });
      });
      const isDone = await Promise.race([understood, ended]);
      child.kill();
      await ended;
      if (isDone) return;
    }
    throw new Error(`${program} does not do ${parameters.at(-1)}`);
  }

  private startInTerminal(program: string, parameters: string[], settings: Record<string, string> = {}) {
    const quoted = [program, ...parameters].map((word) => `'${word}'`).join(" ");
    return this.start("script", ["-qec", `stty rows 50 cols 200; exec ${quoted}`, "/dev/null"], settings);
  }

  /** Runs one of our small programs, which uses the client as a library. */
  runProgram(name: string, parameters: string[]): Promise<string> {
    cpSync("tests/clients/programs", this.home, { recursive: true });
    return this.run("node", [name, ...parameters]);
  }

  /** Starts a program of the client without this machine's environment. */
  start(program: string, parameters: string[], settings: Record<string, string> = {}): ChildProcess {
    const { home, opener, programs } = this;
    const PATH = `${join(home, "bin")}:${programs}:${process.env.PATH}`;
    const own: Record<string, string> = { PATH, HOME: home, BROWSER: opener, TERM: "xterm" };
    const child = spawnLeashed(program, parameters, {
      cwd: home,
      env: { ...own, ...this.clock, ...settings } as NodeJS.ProcessEnv,
      stdio: "pipe",
    });
    this.started.push(child);
    // `script` then ends its program, which is in the terminal's session and not in this group.
    setTimeout(() => child.kill(), maxMs).unref();
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk) => {
        this.said += chunk;
      });
    }
    return child;
  }

  private finish(child: ChildProcess): Promise<string> {
    const before = this.said.length;
    return new Promise((resolve, reject) => {
      child.once("error", reject).once("close", (code) => {
        if (code === 0) resolve(this.said.slice(before));
        else reject(new Error(`it ended with ${code}`));
      });
    });
  }

  /** Ends all programs that still run here. */
  clear(): void {
    for (const child of this.started) end(child);
  }
}

/** Ends a program and its children. */
function end({ pid, exitCode }: ChildProcess): void {
  if (!pid || exitCode !== null) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended in the meantime.
  }
}
