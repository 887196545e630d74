import { homedir } from "node:os";
import { CompanyGate, Connection, FileVault, connectOnDesktop } from "./corner-office.mjs";

const url = process.env.CORNER_OFFICE_URL;
const connection = new Connection(url, "native", new FileVault(homedir() + "/.corner-office"));
const gate = new CompanyGate(url, connection.readToken);
void gate.keepAsking(() => console.log(gate.mayRun() ? "run" : "wait", gate.why));

/** When the person presses "Sign in". */
async function signIn() {
  try {
    await connectOnDesktop(connection, async (address) => console.log("Open this in your browser:\n" + address));
    gate.wake();
  } catch (failure) {
    console.log(failure.message);
  }
}

if ((await connection.readToken().catch(() => "not now")) === "") await signIn();
