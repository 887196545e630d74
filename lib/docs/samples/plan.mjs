import { CompanyGate } from "./corner-office.mjs";

const gate = new CompanyGate(process.env.CORNER_OFFICE_URL, async () => process.env.CORNER_OFFICE_TOKEN ?? "");
await gate.ask(); // an app has keepAsking do it

const projects = ["Spring", "Summer"];
if (gate.has("voice")) console.log("show the button for voice");
if (projects.length < gate.limit("projects")) console.log("one more project is possible");
