import { describe, expect, it } from "vitest";
import { parsePostgresAddress } from "@/lib/config/postgres-address";
import { parseSettings } from "@/lib/config/settings";

describe("the address of a PostgreSQL", () => {
  const prefer = "?sslmode=prefer";
  it.each([
    ["postgres://u:p@a/office", [`postgres://u:p@a:/office${prefer}`]],
    ["postgresql://u:p@a:5433/office?sslmode=require", ["postgres://u:p@a:5433/office?sslmode=require"]],
    [
      "postgres:///office?host=/run/postgresql",
      [`postgres://localhost:/office${prefer}&host=%2Frun%2Fpostgresql`],
    ],
    ["postgres://a/office?target_session_attrs=any", [`postgres://a:/office${prefer}`]],
    [
      "postgres://u:p%40@a:5432,[::1]:5433/office?sslmode=require&target_session_attrs=read-write",
      [
        "postgres://u:p%40@a:5432/office?sslmode=require",
        "postgres://u:p%40@[::1]:5433/office?sslmode=require",
      ],
    ],
    [
      "postgres:///office?host=a,b&port=5433&user=u&password=p",
      [`postgres://u:p@a:5433/office${prefer}`, `postgres://u:p@b:5433/office${prefer}`],
    ],
  ])("%s has the hosts %j", (text, addresses) => {
    expect(parsePostgresAddress(text)).toEqual(addresses);
  });

  it.each([
    ["100%", "100%"],
    ["%zz", "%zz"],
    ["p@ss", "p@ss"],
    ["p:a/s?s#w", "p:a/s?s#w"],
    ["p%40%2f", "p@/"],
    ["a@b/c@d", "a@b/c@d"],
  ])("takes the password %s as it is meant", (typed, password) => {
    const [address = ""] = parsePostgresAddress(`postgres://u:${typed}@db:5432/office?sslmode=require`) ?? [];
    expect(decodeURIComponent(new URL(address).password)).toBe(password);
    expect(new URL(address).host).toBe("db:5432");
  });

  it.each([
    "postgres://u:p@ss?w@db/office",
    "postgres://u:1?x@db/office",
    "postgres://db/office?user=me@server",
  ])("%s is refused, because it may mean two things", (text) =>
    expect(parsePostgresAddress(text)).toBeUndefined(),
  );

  it.each([
    [
      "Neon",
      "postgresql://o:npg_1@ep-a-pooler.eu-central-1.aws.neon.tech/neondb?sslmode=require&channel_binding=require",
    ],
    [
      "Supabase",
      "postgresql://postgres.ref:p[w]@aws-0-eu-central-1.pooler.supabase.com:6543/postgres?pgbouncer=true",
    ],
    [
      "RDS",
      "postgres://u:p@a.eu-central-1.rds.amazonaws.com:5432/o?sslmode=verify-full&sslrootcert=/etc/rds/global-bundle.pem",
    ],
    ["Cloud SQL", "postgres://u:p@/office?host=/cloudsql/project:europe-west1:office"],
    ["Cloud SQL, encoded", "postgresql://u:p@%2Fcloudsql%2Fproject%3Aeurope-west1%3Aoffice/office"],
    [
      "Cloud SQL for Prisma",
      "postgresql://u:p@localhost/office?host=/cloudsql/project:europe-west1:office&schema=public",
    ],
    [
      "Azure",
      "postgres://office%40server:p@server.postgres.database.azure.com:5432/postgres?sslmode=require",
    ],
    ["Heroku", "postgres://u:p@ec2-1-2-3-4.eu-west-1.compute.amazonaws.com:5432/d1"],
    [
      "Heroku, enhanced certificates",
      "postgres://u:p@a.herokuapp.com:5432/d1?sslrootcert=/etc/ssl/certs/ca-certificates.crt&sslmode=verify-full",
    ],
    ["Fly", "postgres://office:p@office-db.flycast:5432/office?sslmode=disable"],
    [
      "PlanetScale",
      "postgresql://u:pscale_pw_1@eu-central-1.pg.psdb.cloud:6432/postgres?sslmode=verify-full&sslrootcert=system",
    ],
    [
      "DigitalOcean",
      "postgresql://doadmin:AVNS_1@db-a-do-user-1-0.c.db.ondigitalocean.com:25060/defaultdb?sslmode=require",
    ],
  ])("of %s is one that starts", (_, text) => {
    const [address = ""] = parsePostgresAddress(text) ?? [];
    const { hostname, searchParams } = new URL(address);
    expect(hostname).toBe(text.includes("cloudsql") ? "localhost" : /@([^:/?]+)/.exec(text)?.[1]);
    if (text.includes("cloudsql"))
      expect(searchParams.get("host")).toBe("/cloudsql/project:europe-west1:office");
  });

  it.each([
    ["a%zb", "a%zb"],
    ["100%", "100%"],
    ["a%2Fb", "a/b"],
    ["a/b#c?d", "a/b#c?d"],
    ["a@b:c", "a@b:c"],
    ["p%C3%A4%FF", "p%C3%A4%FF"],
  ])("takes the password %s as %s", (written, meant) => {
    const [address = ""] = parsePostgresAddress(`postgres://u:${written}@a.example.com:5432/office`) ?? [];
    expect(decodeURIComponent(new URL(address).password)).toBe(meant);
  });

  it.each([
    "mysql://a/office",
    "postgres://a:99999,b/office",
    "postgres://a/office?target_session_attrs=standby",
    "postgres://a/office?port=5432,5433",
    "postgres://a/office?sslmode=on",
  ])("%s stops the start with one line that does not repeat it", (text) => {
    const start = () =>
      parseSettings({ DATABASE_URL: text, APP_URL: "http://localhost", APP_SECRET: "s".repeat(32) });
    expect(start).toThrow(
      /^DATABASE_URL: must be an address like postgres:\/\/user:password@db\.example\.com:5432\/office or, with a standby, postgres:\/\/user:password@a:5432,b:5432\/office\?target_session_attrs=read-write$/,
    );
  });
});
