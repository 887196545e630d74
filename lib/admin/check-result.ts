/** The result of a check, and what to do if it is not fine. */
export type CheckResult = { level: "fine" | "warning" | "fault"; detail: string; remedy?: string };

export const fine = (detail: string) => ({ level: "fine", detail }) as const;
export const warning = (detail: string, remedy: string) => ({ level: "warning", detail, remedy }) as const;
export const fault = (detail: string, remedy: string) => ({ level: "fault", detail, remedy }) as const;
