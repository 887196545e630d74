import { settings } from "@/lib/config/settings";

/** What credits buy, in the operator's words if there are any. */
export const creditUse = () => settings().creditUse ?? "Credits pay for what your assistants use.";
