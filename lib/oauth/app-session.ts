/** The session that a grant of the owner's stands for. */
export function appSessionId(grantId: string): string {
  return `sess_${grantId}`;
}
