import type * as z from "zod";

type Schema = { jsonSchema: z.core.JSONSchema.BaseSchema };

/** How the schema of an answer is published, for zod's `override`: open, because clients must ignore unknown fields. */
export function publishAnswer(schema: Schema): void {
  mergeNull(schema);
  const { jsonSchema } = schema;
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  if (jsonSchema.format) delete jsonSchema.pattern;
  // Without it, generators make an int of 32 bits, which holds neither the bounds nor each limit (colinhacks/zod#4779).
  if (jsonSchema.type === "integer") jsonSchema.format = "int64";
}

/**
 * Publishes what may be null with two types and no `anyOf`, of which some generators make no type (RicoSuter/NSwag#3917), and
 * others an error (oapi-codegen/oapi-codegen#2218).
 */
export function mergeNull({ jsonSchema }: Schema): void {
  const { anyOf: [schema, nothing, ...others] = [], ...said } = jsonSchema;
  if (typeof schema?.type !== "string" || nothing?.type !== "null" || others.length > 0) return;
  delete jsonSchema.anyOf;
  Object.assign(jsonSchema, schema, said, { type: [schema.type, "null"] });
}
