// Completion of scenario files from their JSON Schema: which table the cursor stands in, and what may be written there.

/** A schema without reference: what `$ref` names. */
function resolved(root, schema) {
  let found = schema;
  for (let depth = 0; found?.$ref && depth < 20; depth += 1) {
    found = found.$ref.slice(2).split("/").reduce((part, key) => part?.[decodeURIComponent(key)], root);
  }
  return found ?? {};
}

/** The schema and all its alternatives, one level deep. */
function alternatives(root, schema) {
  const whole = resolved(root, schema);
  const parts = ["anyOf", "oneOf", "allOf"].flatMap((key) => whole[key] ?? []);
  return [whole, ...parts.flatMap((part) => alternatives(root, part))];
}

/** The schemas below a key; elements of an array count as the array. */
function below(root, schemas, key) {
  return schemas.flatMap((schema) => alternatives(root, schema)).flatMap((schema) => {
    if (schema.type === "array" || schema.items) return below(root, [schema.items ?? {}], key);
    if (schema.properties?.[key]) return [schema.properties[key]];
    return typeof schema.additionalProperties === "object" ? [schema.additionalProperties] : [];
  });
}

/** The alternatives of a schema, with arrays replaced by their elements. */
function unfolded(root, schemas) {
  return schemas.flatMap((schema) => alternatives(root, schema))
    .flatMap((schema) => (schema.items ? unfolded(root, [schema.items]) : [schema]));
}

const header = /^\s*\[\[?\s*([^\]]*?)\s*\]?\]?\s*(?:#.*)?$/;
const keysOf = (path) => [...path.matchAll(/"([^"]*)"|'([^']*)'|([\w-]+)/g)].map((part) => part[1] ?? part[2] ?? part[3]);

/** Removes strings and comments, keeping lengths, so that braces and signs in them do not count. */
const blanked = (text) => text.replace(/"(?:\\.|[^"\\])*"?|'[^']*'?|#.*/g, (part) => (part[0] === "#" ? " ".repeat(part.length) : `"${"_".repeat(Math.max(0, part.length - 2))}"`.slice(0, part.length)));

/** The table of the cursor, and the beginning of the word before it. */
export function place(text, cursor) {
  const before = text.slice(0, cursor);
  const start = before.lastIndexOf("\n") + 1;
  const line = before.slice(start);
  let table = [];
  for (const earlier of before.slice(0, start).split("\n")) {
    const match = header.exec(earlier);
    if (match) table = keysOf(match[1]);
  }
  const head = /^\s*\[\[?\s*([^\]]*)$/.exec(line);
  if (head) {
    const path = head[1];
    const word = /[\w-]*$/.exec(path)[0];
    return { kind: "key", table: keysOf(path.slice(0, path.length - word.length)), word, header: true };
  }
  return inLine(line, table);
}

function inLine(line, table) {
  const bare = blanked(line);
  const path = [...table];
  const stack = [];
  let piece = 0;
  for (let index = 0; index < bare.length; index += 1) {
    const key = () => keysOf(line.slice(piece, index));
    if (bare[index] === "=") {
      stack.push({ depth: path.length });
      path.push(...key());
      piece = index + 1;
    } else if (bare[index] === "{") piece = index + 1;
    else if (bare[index] === "," || bare[index] === "}") {
      const opened = bare.slice(0, index).split("{").length - bare.slice(0, index).split("}").length;
      if (opened > 0 && stack.length > opened - (bare[index] === "}" ? 1 : 0)) path.length = stack.pop().depth;
      piece = index + 1;
    }
  }
  const rest = line.slice(piece);
  const isValue = piece > 0 && bare[piece - 1] === "=";
  if (isValue) {
    const word = /"?[\w.-]*$/.exec(rest)[0];
    return { kind: "value", table: path, word };
  }
  const word = /[\w-]*$/.exec(rest)[0];
  return { kind: "key", table: [...path, ...keysOf(rest.slice(0, rest.length - word.length))], word, header: false };
}

/** What can be written at the cursor: `{ text, label, detail, from }`; `from` is where the replaced word begins. */
export function proposals(schema, text, cursor) {
  const at = place(text, cursor);
  let schemas = [schema];
  for (const key of at.table) schemas = below(schema, schemas, key);
  const here = unfolded(schema, schemas);
  const found = at.kind === "key" ? keys(schema, here, at) : values(here);
  const word = at.word.replace(/^"/, "").toLowerCase();
  const matching = found.filter(({ label }) => label.replace(/^"/, "").toLowerCase().startsWith(word) && label !== at.word);
  const unique = new Map(matching.map((one) => [one.label, one]));
  return [...unique.values()].map((one) => ({ ...one, from: cursor - at.word.length }));
}

function keys(root, schemas, at) {
  return schemas.flatMap((schema) => Object.entries(schema.properties ?? {})).map(([key, value]) => {
    const whole = resolved(root, value);
    const detail = value.description ?? whole.description ?? "";
    return { label: key, text: at.header ? key : `${key} = `, detail };
  });
}

function values(schemas) {
  return schemas.flatMap((schema) => {
    const named = schema.enum ?? ("const" in schema ? [schema.const] : []);
    const listed = schema.type === "boolean" ? [true, false] : named;
    return listed.map((value) => ({ label: JSON.stringify(value), text: JSON.stringify(value), detail: schema.description ?? "" }));
  });
}

/** The schema of scenarios with the names and parameters of the catalogue's protocols and queues. */
export function withNames(schema, { protocols, queues }) {
  const whole = structuredClone(schema);
  const parameters = (law) => Object.fromEntries((law.parameters ?? []).map((one) => [one.name, {
    description: [one.meaning, one.unit && `[${one.unit}]`, one.origin && `(${one.origin})`].filter(Boolean).join(" "),
    enum: (one.choices ?? []).map((choice) => choice.value ?? choice),
  }]));
  const table = (laws, make) => Object.fromEntries(laws.map((law) => [law.name, { description: law.title, ...make(law) }]));
  const definitions = whole.$defs;
  const own = { $ref: "#/$defs/protocol" };
  definitions["flow-group"].properties.protocol = { ...definitions["flow-group"].properties.protocol, enum: protocols.map((law) => law.name) };
  whole.properties.protocols.properties = table(protocols, (law) => ({ anyOf: [own, { properties: { params: { properties: parameters(law) } } }] }));
  const named = [{ enum: queues.map((queue) => queue.name) }, { properties: table(queues, (queue) => ({ properties: parameters(queue) })) }];
  for (const definition of Object.values(definitions)) {
    const queue = definition.properties?.queue;
    if (queue) queue.anyOf = [...(queue.anyOf ?? []), ...named];
  }
  return whole;
}
