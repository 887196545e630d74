/** Why a mistake changes nothing that anyone sees, by its file and change. */
export const equivalents: Record<string, string> = {};
