import * as SecureStore from "expo-secure-store";
import * as WebBrowser from "expo-web-browser";
import { install } from "react-native-quick-crypto";
import { CompanyGate, Connection } from "./corner-office";

install(); // React Native has no WebCrypto of its own
const url = "https://office.example.com";
const keyType = { name: "ECDSA", namedCurve: "P-256" };
const onlyHere = { keychainAccessible: SecureStore.AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY };
const vault = {
  read: async () => (await SecureStore.getItemAsync("corner-office")) ?? "",
  write: (refreshToken = "") => SecureStore.setItemAsync("corner-office", refreshToken, onlyHere),
  /** The app's key, which no backup takes to another phone: tokens are worth nothing without it. */
  openKey: async () => {
    let kept = await SecureStore.getItemAsync("corner-office-key");
    if (!kept) {
      const { privateKey } = await crypto.subtle.generateKey(keyType, true, ["sign"]);
      kept = JSON.stringify(await crypto.subtle.exportKey("jwk", privateKey));
      await SecureStore.setItemAsync("corner-office-key", kept, onlyHere);
    }
    const jwk = JSON.parse(kept);
    return { jwk, privateKey: await crypto.subtle.importKey("jwk", jwk, keyType, false, ["sign"]) };
  },
};
const connection = new Connection(url, "studio", vault);
const gate = new CompanyGate(url, connection.readToken);
void gate.keepAsking(() => console.log(gate.mayRun() ? "run" : "wait", gate.why));

/** When the person presses "Sign in". */
export async function signIn() {
  await connection.connect("com.example.studio:/signed-in", async (address = "", redirectUri = "") =>
    Object(await WebBrowser.openAuthSessionAsync(address, redirectUri)).url ?? "");
  gate.wake();
}
