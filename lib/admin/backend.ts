import { readFileSync } from "node:fs";
import { act, shellAct } from "@/lib/admin/act";
import { parser } from "@/lib/admin/arguments";
import { asTable, type Result } from "@/lib/admin/print";
import {
  addBackend,
  type Backend,
  listBackends,
  type Permission,
  permissions,
  removeBackend,
  rotateBackend,
} from "@/lib/backend/backends";
import { asIso } from "@/lib/config/instants";
import type { Db } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";

const readPermissions = (text: string) => {
  const named = text.split(",");
  const isKnown = named.every((one) => permissions.some((permission) => permission === one));
  return isKnown ? permissions.filter((permission) => named.includes(permission)) : undefined;
};

/** What a backend may do. */
export const mayInWords: Readonly<Record<Permission, string>> = {
  read: "Read accounts",
  spend: "Spend and hold credits",
};

const publicKey = {
  option: "--public-key <file>",
  words: "its public key, PEM or JWK; without it, a pair is made",
  parse: readKey,
  read: (typed: string) => typed || undefined,
  label: "Its public key, PEM or JWK; without one, a pair is made",
  as: "lines",
} as const;

type WithKey = { backend: string; publicKey?: string };

export const backendActs = {
  list: shellAct({
    usage: "list",
    words: "list the backends, with what they may do and their keys",
    async run({ db }) {
      const backends = (await listBackends(db)).map(describe);
      const rows = backends.map(({ may, keys, ...row }) => ({
        ...row,
        may: may.join(),
        keys: keys.map(({ kid }) => kid).join(" "),
      }));
      return { json: backends, text: asTable(rows, "No backends found.") };
    },
  }),
  add: act({
    usage: "add <backend>",
    words: "add a backend; of a pair that is made, prints the private key, once",
    effect: { does: "It can call within a second.", undo: "It can be removed at any time." },
    fields: {
      backend: { label: "Name", read: (typed) => typed },
      may: {
        option: "--may <permissions>",
        words: "read, spend or both",
        parse: parser(readPermissions, "It must be read, spend or read,spend."),
        initial: ["read"],
        read: parser(readPermissions, "Choose what it may."),
        label: "It may",
        ticks: mayInWords,
        shown: "read",
      },
      publicKey,
    },
    form: { path: "/backends/add", name: "add a backend", done: "Added. It is known within a second." },
    async run({ db, by, nowMs }, { backend: id, may, publicKey }: WithKey & { may: Permission[] }) {
      return describeAdded(db, id, await addBackend(db, { id, may, publicKey, by }, nowMs));
    },
    preview: async (_, { backend, may }) => ({
      whom: backend,
      changes: [{ what: "It may", after: may.map((one) => mayInWords[one]).join(", ") }],
    }),
  }),
  rotate: act({
    usage: "rotate <backend>",
    words: "give a backend a new key; the one before stays valid until the next rotation",
    effect: {
      does: "The backend goes on working with either key, so nothing stops meanwhile. Rotate twice if a key was stolen: then the stolen one is refused.",
      undo: "The one before stays valid until the next rotation.",
    },
    fields: { publicKey },
    form: {
      path: "/backends/rotate",
      name: "rotate the key",
      done: "The new key is known within a second. The one before stays valid.",
    },
    async run({ db, by, nowMs }, { backend: id, publicKey }: WithKey) {
      return describeAdded(db, id, await rotateBackend(db, { id, publicKey, by }, nowMs));
    },
    preview: async (_, { backend, publicKey }) => ({
      whom: backend,
      changes: [{ what: "Key", after: publicKey ? "the one that you gave" : "a new one, shown once" }],
    }),
  }),
  remove: act({
    usage: "remove <backend>",
    words: "remove a backend with its keys; the ledger keeps its name",
    effect: {
      does: "Its requests are refused within a second. What it has spent stays spent, and the ledger keeps its name.",
      undo: "It can be added again with the same key.",
    },
    form: {
      path: "/backends/remove",
      name: "remove the backend",
      done: "Removed. Its requests are refused from now on.",
    },
    async run({ db, by, nowMs, confirm }, { backend: id }: { backend: string }) {
      await confirm(`This removes the backend ${id}: its requests are refused from then on.`);
      await removeBackend(db, { id, by }, nowMs);
      return { json: { removed: id }, text: `Removed ${id}.` };
    },
    preview: async (_, { backend }) => ({
      whom: backend,
      changes: [{ what: "Its requests", before: "are answered", after: "are refused" }],
    }),
  }),
};

const describe = ({ id, may, keys, addedAtMs }: Backend) => ({
  id,
  may,
  keys: keys.map(({ kid, addedAtMs }) => ({ kid, addedAt: asIso(addedAtMs) })),
  addedAt: asIso(addedAtMs),
});

/** A backend, and the private key of a pair that was made for it, which is stored nowhere. */
export type Added = { id: string; privateKey?: string };

async function describeAdded(db: Db, id: string, privateKey?: string): Promise<Result<Added>> {
  const added = (await listBackends(db)).find((backend) => backend.id === id);
  const json = { id, ...(added && describe(added)), ...(privateKey && { privateKey }) };
  return { json, text: privateKey ?? `${id} has the key ${added?.keys[0]?.kid}.` };
}

function readKey(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (failure) {
    throw new ApiError("invalid_request", {
      message: `The file ${file} cannot be read (${(failure as NodeJS.ErrnoException).code}).`,
      hint: "Check its path.",
    });
  }
}
