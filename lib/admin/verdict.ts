/** What is said of something that was checked, and what to do where it is not fine. */
export type Verdict = { level: "fine" | "warning" | "fault"; detail: string; remedy?: string };

export const fine = (detail: string): Verdict => ({ level: "fine", detail });
export const warning = (detail: string, remedy: string): Verdict => ({ level: "warning", detail, remedy });
export const fault = (detail: string, remedy: string): Verdict => ({ level: "fault", detail, remedy });
