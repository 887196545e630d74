import type { Mail, SendError, Sender } from "@/lib/mail/mail";

/** A sender that records the mails it gets, and then does and refuses what the test says. */
export class RecordingSender implements Sender {
  readonly maxConcurrent = 5;
  readonly sent: Mail[] = [];
  failure: SendError | undefined;
  whileSending: () => Promise<unknown> = async () => {};

  async send(mail: Mail): Promise<void> {
    this.sent.push(mail);
    await this.whileSending();
    if (this.failure) throw this.failure;
  }

  async check(): Promise<string> {
    return "it answers";
  }
}
