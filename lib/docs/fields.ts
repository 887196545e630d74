import * as z from "zod";
import { table } from "@/lib/docs/markdown";

/** A table of a schema's fields; those of a nested object are named by their path. */
export function fieldTable(schema: z.ZodType): string {
  const rows = rowsWithin(z.toJSONSchema(schema), "");
  return table(["Field", "Type", "Notes"], rows);
}

type JsonSchema = z.core.JSONSchema.JSONSchema;

function rowsWithin({ properties = {}, required = [] }: JsonSchema, prefix: string): string[][] {
  return Object.entries(properties as Record<string, JsonSchema>).flatMap(([key, property]) => {
    const name = prefix + key;
    const object = [property, ...(property.anyOf ?? [])].find((candidate) => candidate.properties);
    const { description = "" } = property;
    const type = `${typeOf(property)}${required.includes(key) ? "" : ", optional"}`;
    return [[`\`${name}\``, type, description], ...(object ? rowsWithin(object, `${name}.`) : [])];
  });
}

function typeOf({ type, enum: values, format, minimum, anyOf }: JsonSchema): string {
  if (anyOf) return anyOf.map(typeOf).join(" or ");
  if (values && values.length <= 5) return `${type}: ${values.map((value) => `\`${value}\``).join(", ")}`;
  const minimumText = minimum === undefined ? "" : `, at least ${minimum}`;
  return `${type}${format ? `, ${format}` : ""}${minimumText}`;
}
