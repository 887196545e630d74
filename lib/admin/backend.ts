import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { parser } from "@/lib/admin/arguments";
import type { AdminCommand } from "@/lib/admin/command";
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

const by = "operator";

const parsePermissions = parser((text) => {
  const may = permissions.filter((permission) => text.split(",").includes(permission));
  return may.length > 0 && may.length === text.split(",").length ? may : undefined;
}, "It must be read, spend or read,spend.");

type Options = { may: Permission[]; publicKey?: string };

/** `backend add|list|rotate|remove`. */
export function addBackendCommands(program: AdminCommand): void {
  const backend = program
    .command("backend")
    .description("your systems that call the backend API (BACKEND_PORT)");
  const withKey = (command: AdminCommand) =>
    command.option("--public-key <file>", "its public key, PEM or JWK; without it, a pair is made", (path) =>
      resolve(path),
    );

  withKey(backend.add("add <name>", "add a backend; of a pair that is made, prints the private key, once"))
    .option("--may <permissions>", "read, spend or both", parsePermissions, ["read"])
    .does(async ({ db }, id: string, { may, publicKey }: Options) => {
      const privateKey = await addBackend(
        db,
        { id, may, publicKey: await readKey(publicKey), by },
        Date.now(),
      );
      return describeAdded(db, id, privateKey);
    });

  backend.add("list", "list the backends, with what they may do and their keys").does(async ({ db }) => {
    const backends = (await listBackends(db)).map(describe);
    const rows = backends.map(({ may, keys, ...row }) => ({
      ...row,
      may: may.join(),
      keys: keys.map(({ kid }) => kid).join(" "),
    }));
    return { json: backends, text: asTable(rows, "No backends found.") };
  });

  withKey(
    backend.add(
      "rotate <name>",
      "give a backend a new key; the one before stays valid until the next rotation",
    ),
  ).does(async ({ db }, id: string, { publicKey }: Options) => {
    const privateKey = await rotateBackend(db, { id, publicKey: await readKey(publicKey), by }, Date.now());
    return describeAdded(db, id, privateKey);
  });

  backend
    .add("remove <name>", "remove a backend with its keys; the ledger keeps its name")
    .does(async ({ db, confirm }, id: string) => {
      await confirm(`This removes the backend ${id}: its requests are refused from then on.`);
      await removeBackend(db, { id, by }, Date.now());
      return { json: { removed: id }, text: `Removed ${id}.` };
    });
}

const describe = ({ id, may, keys, addedAtMs }: Backend) => ({
  id,
  may,
  keys: keys.map(({ kid, addedAtMs }) => ({ kid, addedAt: asIso(addedAtMs) })),
  addedAt: asIso(addedAtMs),
});

async function describeAdded(db: Db, id: string, privateKey: string | undefined): Promise<Result> {
  const added = (await listBackends(db)).find((backend) => backend.id === id);
  const json = { ...(added && describe(added)), ...(privateKey && { privateKey }) };
  return { json, text: privateKey ?? `${id} has the key ${added?.keys[0]?.kid}.` };
}

async function readKey(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  return readFile(file, "utf8").catch(({ code }: NodeJS.ErrnoException) => {
    throw new ApiError("invalid_request", {
      message: `The file ${file} cannot be read (${code}).`,
      hint: "Check its path.",
    });
  });
}
