import type {
  AttributeDataJSON,
  ClerkAPIErrorJSON,
  EnvironmentJSON,
  OAuthProviders,
  SessionJSON,
  SignInJSON,
  SignUpJSON,
  UserJSON,
  VerificationJSON,
} from "@clerk/shared/types";
import { makeUser } from "@/tests/support/clerk-instance";

// Objects of Clerk's Frontend API, for an instance that signs in by email code and has no passwords.

const off: AttributeDataJSON = {
  enabled: false,
  required: false,
  verifications: [],
  used_for_first_factor: false,
  first_factors: [],
  used_for_second_factor: false,
  second_factors: [],
  verify_at_sign_up: false,
};

const emailCode: AttributeDataJSON = {
  ...off,
  enabled: true,
  required: true,
  verifications: ["email_code"],
  used_for_first_factor: true,
  first_factors: ["email_code"],
  verify_at_sign_up: true,
};

const never = undefined as never;

/** What Clerk’s scripts read of it. */
export const environment = {
  object: "environment",
  id: "env_1",
  maintenance_mode: false,
  api_keys_settings: {
    object: "api_keys_settings",
    id: "aks_1",
    user_api_keys_enabled: false,
    orgs_api_keys_enabled: false,
  },
  auth_config: {
    object: "auth_config",
    id: "aac_1",
    single_session_mode: true,
    claimed_at: null,
    reverification: false,
  },
  display_config: {
    object: "display_config",
    id: "dc_1",
    application_name: "Corner Office",
    instance_environment_type: "development",
    preferred_sign_in_strategy: "otp",
    branded: false,
    show_devmode_warning: false,
  },
  user_settings: {
    object: never,
    id: never,
    attributes: {
      email_address: emailCode,
      phone_number: off,
      username: off,
      first_name: off,
      last_name: off,
      password: off,
      web3_wallet: off,
      authenticator_app: off,
      backup_code: off,
      passkey: off,
    },
    actions: { delete_self: false, create_organization: false },
    social: {} as OAuthProviders,
    enterprise_sso: { enabled: false, self_serve_sso: false, self_serve_directory_sync: false },
    sign_in: { second_factor: { required: false, enabled: false } },
    sign_up: {
      allowlist_only: false,
      progressive: true,
      captcha_enabled: false,
      mode: "restricted",
      legal_consent_enabled: false,
    },
  },
} as EnvironmentJSON;

function verification(strategy: string, status: VerificationJSON["status"]): VerificationJSON {
  const error = null as unknown as ClerkAPIErrorJSON; // null without an error, which its type omits
  return {
    object: "verification",
    id: "ver_1",
    status,
    strategy,
    attempts: 0,
    expire_at: Date.now() + 600_000,
    verified_at_client: "",
    error,
  };
}

const picture = { image_url: "", has_image: false };

function user(id: string, email: string): UserJSON {
  const { id: emailId } = makeUser(id, email, 1).email_addresses[0] ?? never;
  return {
    ...makeUser(id, email, 1),
    ...picture,
    email_addresses: [
      {
        object: "email_address",
        id: emailId,
        email_address: email,
        verification: verification("email_code", "verified"),
        linked_to: [],
        matches_sso_connection: false,
      },
    ],
    phone_numbers: [],
    web3_wallets: [],
    external_accounts: [],
    enterprise_accounts: [],
    passkeys: [],
    organization_memberships: [],
    profile_image_id: "",
    public_metadata: {},
    unsafe_metadata: {},
  };
}

export function session(id: string, userId: string, email: string, token: string): SessionJSON {
  const nowMs = Date.now();
  const dayMs = 24 * 60 * 60 * 1000;
  return {
    object: "session",
    id,
    status: "active",
    factor_verification_age: [0, -1],
    expire_at: nowMs + 7 * dayMs,
    abandon_at: nowMs + 30 * dayMs,
    last_active_at: nowMs,
    last_active_token: { object: "token", id: "tok_1", jwt: token },
    last_active_organization_id: null,
    actor: null,
    tasks: null,
    user: user(userId, email),
    public_user_data: { first_name: null, last_name: null, ...picture, identifier: email, user_id: userId },
    created_at: nowMs,
    updated_at: nowMs,
  };
}

/** A sign-in by email code; complete once it has made a session. */
export function signIn(email: string, sessionId: string | null): SignInJSON {
  const factor = { strategy: "email_code", email_address_id: "idn_1", safe_identifier: email, primary: true };
  return {
    object: "sign_in",
    id: "sia_1",
    status: sessionId ? "complete" : "needs_first_factor",
    supported_identifiers: ["email_address"],
    identifier: email,
    user_data: picture,
    supported_first_factors: [factor as SignInJSON["supported_first_factors"][number]],
    supported_second_factors: [],
    first_factor_verification: verification("email_code", sessionId ? "verified" : "unverified"),
    second_factor_verification: null,
    created_session_id: sessionId,
    timezone: null,
  };
}

/** An invited person's sign-up: the ticket has verified the email, so it is complete. */
export function signUp(email: string, userId: string, sessionId: string): SignUpJSON {
  const none = { ...verification("", "unverified"), next_action: "", supported_strategies: [] };
  return {
    object: "sign_up",
    id: "sua_1",
    status: "complete",
    required_fields: ["email_address"],
    optional_fields: [],
    missing_fields: [],
    unverified_fields: [],
    username: null,
    first_name: null,
    last_name: null,
    email_address: email,
    phone_number: null,
    web3_wallet: null,
    external_account_strategy: null,
    external_account: null,
    has_password: false,
    unsafe_metadata: {},
    created_session_id: sessionId,
    created_user_id: userId,
    abandon_at: null,
    legal_accepted_at: null,
    locale: null,
    timezone: null,
    verifications: {
      email_address: { ...none, ...verification("ticket", "verified") },
      phone_number: none,
      web3_wallet: none,
      external_account: verification("", "unverified"),
    },
  };
}
