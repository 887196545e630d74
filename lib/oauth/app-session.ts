/** The id of the session that belongs to a grant. */
export function appSessionId(grantId: string): string {
  return `sess_${grantId}`;
}
