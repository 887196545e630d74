import { isInstant } from "@/lib/accounts/account";
import { fieldValue, invalid, type OfficeCall } from "@/lib/office/page";

type TimeFieldProps = { call: OfficeCall; name: string; label: string; atMs: number | null | undefined };

/** A field for a time in UTC, to the minute. */
export function TimeField({ call, name, label, atMs }: TimeFieldProps) {
  return (
    <label>
      {label}
      <input type="datetime-local" name={name} defaultValue={fieldValue(call, name, toMinute(atMs))} />
    </label>
  );
}

/** A time as the field shows it; empty without one. */
export function toMinute(atMs: number | null | undefined): string {
  return atMs == null ? "" : new Date(atMs).toISOString().slice(0, 16);
}

/** Parses the field to Unix milliseconds; `null` if it is empty. Throws an {@link ApiError}. */
export function parseTime(text: string | undefined): number | null {
  if (!text) return null;
  const atMs = Date.parse(`${text}Z`);
  if (!isInstant(atMs)) throw invalid("A time must be from 1970 to 9999.");
  return atMs;
}
