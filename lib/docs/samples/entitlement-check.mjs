import { CompanyGate } from "./corner-office.mjs";

const gate = new CompanyGate(process.env.CORNER_OFFICE_URL, async () => process.env.CORNER_OFFICE_TOKEN ?? "");
const askAgainInSeconds = await gate.ask();
console.log({ mayRun: gate.mayRun(), why: gate.why, askAgainInSeconds });
