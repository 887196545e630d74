/** The result of a check, and what to do if it is not fine. */
export type CheckResult = { level: "fine" | "warning" | "fault"; detail: string; remedy?: string };

export const fine = (detail: string): CheckResult => ({ level: "fine", detail });
export const warning = (detail: string, remedy: string): CheckResult => ({
  level: "warning",
  detail,
  remedy,
});
export const fault = (detail: string, remedy: string): CheckResult => ({ level: "fault", detail, remedy });
