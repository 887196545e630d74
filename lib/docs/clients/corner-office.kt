// Corner Office client 1.4.0, in Kotlin for Android 8 and newer. Nothing else to install.
// On another JVM, add org.json and leave out the imports of android and the last part.
import android.app.Activity
import android.content.Context
import android.content.Intent
import android.net.Uri
import android.os.Bundle
import android.security.keystore.KeyGenParameterSpec
import android.security.keystore.KeyProperties
import java.io.IOException
import java.io.InputStream
import java.net.HttpURLConnection
import java.net.URL
import java.net.URLDecoder
import java.net.URLEncoder
import java.security.KeyPair
import java.security.KeyPairGenerator
import java.security.KeyStore
import java.security.MessageDigest
import java.security.SecureRandom
import java.security.Signature
import java.security.interfaces.ECPublicKey
import java.security.spec.ECGenParameterSpec
import java.util.Base64
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.Semaphore
import java.util.concurrent.TimeUnit
import javax.crypto.AEADBadTagException
import javax.crypto.Cipher
import javax.crypto.KeyGenerator
import javax.crypto.SecretKey
import javax.crypto.spec.GCMParameterSpec
import kotlin.math.max
import kotlin.math.min
import kotlin.math.pow
import kotlin.random.Random
import org.json.JSONArray
import org.json.JSONObject
import org.json.JSONTokener

private const val MAX_SECONDS = 3600L // no answer is good for longer
private const val TIMEOUT_MS = 10_000
private const val MAX_BYTES = 65_536 // an answer has far fewer

private class Reply(val status: Int, val answer: JSONObject, val retryAfter: Double, val nonce: String = "")

@Volatile private var nonce = "" // of a service whose clock differs

/** Sends a request. Status 0: nothing came back that can be an answer of the service, such as a redirect. */
private fun fetchJson(
    url: String, token: String = "", fields: Map<String, String>? = null, key: KeyPair? = null
): Reply {
    val reply = send(url, token, fields, key)
    if (reply.nonce.isEmpty()) return reply
    nonce = reply.nonce
    return send(url, token, fields, key)
}

private fun send(url: String, token: String, fields: Map<String, String>?, key: KeyPair?): Reply = try {
    val http = URL(url).openConnection() as HttpURLConnection
    http.instanceFollowRedirects = false // a redirect would take the token to another host
    http.connectTimeout = TIMEOUT_MS
    http.readTimeout = TIMEOUT_MS
    if (token.isNotEmpty()) authorize(token, "GET", url, nonce).forEach(http::setRequestProperty)
    if (key != null) http.setRequestProperty("DPoP", prove(key, "POST", url, nonce))
    if (fields != null) {
        http.doOutput = true
        http.outputStream.use { it.write(encode(fields).toByteArray()) }
    }
    val status = http.responseCode
    if (status in 300..399) throw IOException("a redirect")
    val json = JSONTokener((if (status < 400) http.inputStream else http.errorStream).use { readText(it) })
    val answer = json.nextValue() as JSONObject
    if (json.nextClean() != '\u0000') throw IOException("more than an answer")
    val retryAfter = http.getHeaderField("Retry-After")?.toLongOrNull() ?: 0 // no date
    Reply(status, answer, min(retryAfter, MAX_SECONDS).toDouble(), http.getHeaderField("DPoP-Nonce") ?: "")
} catch (failure: Exception) {
    Reply(0, JSONObject(), 0.0)
} catch (nested: StackOverflowError) { // a list in a list in a list
    Reply(0, JSONObject(), 0.0)
}

private fun readText(stream: InputStream): String {
    val endsAt = System.nanoTime() + TIMEOUT_MS * 1_000_000L
    val bytes = ByteArray(MAX_BYTES)
    var length = 0
    while (length < MAX_BYTES && System.nanoTime() < endsAt) {
        val read = stream.read(bytes, length, MAX_BYTES - length)
        if (read < 0) return String(bytes, 0, length)
        length += read
    }
    throw IOException("too long")
}

private fun encode(fields: Map<String, String>) =
    fields.map { (name, value) -> name + "=" + URLEncoder.encode(value, "UTF-8") }.joinToString("&")

// --- The loop ---

/**
 * Tracks whether the company may run and when to ask again. Run while mayRun() is true; otherwise show why.
 * readToken returns the session token, or "" if a person has to sign in first. It throws during an outage. It gets the
 * token that no longer works, to renew it.
 */
class CompanyGate(
    private val url: String,
    // A monotonic clock. On Android pass SystemClock::elapsedRealtime, which includes sleep.
    private val clockMs: () -> Long = { System.nanoTime() / 1_000_000 },
    private val readToken: (deadToken: String) -> String
) {
    @Volatile var why = "not_asked"
        private set
    @Volatile var plan = "" // the name of what the owner has; has() and limit() say what is in it
        private set
    @Volatile private var features = JSONArray()
    @Volatile private var limits = JSONObject()
    @Volatile private var yesUntilMs = Long.MIN_VALUE // the last yes is valid until then, even during an outage
    private var faults = 0
    private var deadToken = ""
    private val wakeUps = Semaphore(0)

    fun mayRun(nowMs: Long = clockMs()) = nowMs < yesUntilMs

    /** Whether the plan has a feature, and the company may run. */
    fun has(feature: String, nowMs: Long = clockMs()) =
        mayRun(nowMs) && (0 until features.length()).any { features.opt(it) == feature }

    /** The most that the plan allows: Long.MAX_VALUE for what it does not limit, and 0 while the company may not run. */
    fun limit(name: String, nowMs: Long = clockMs()): Long = when {
        !mayRun(nowMs) -> 0
        limits.isNull(name) -> Long.MAX_VALUE
        else -> (limits.opt(name) as? Number)?.toLong() ?: 0
    }

    /** Asks until its thread is interrupted. Call wake() to ask at once: after a sign-in, and when the device wakes up. */
    fun keepAsking(onAnswer: (CompanyGate) -> Unit) {
        try {
            while (true) {
                wakeUps.drainPermits()
                val seconds = min(ask() ?: Double.MAX_VALUE, MAX_SECONDS.toDouble())
                onAnswer(this)
                wakeUps.tryAcquire((seconds * 1000).toLong(), TimeUnit.MILLISECONDS) // a dead token sends nothing
            }
        } catch (end: InterruptedException) {
            Thread.currentThread().interrupt()
        }
    }

    fun wake() = wakeUps.release()

    /** Asks once, off the main thread. Returns the seconds until the next call; null: call again after a new sign-in. */
    fun ask(nowMs: Long = clockMs()): Double? {
        var attempt = 1
        while (true) {
            val token = try {
                readToken(deadToken)
            } catch (failure: Exception) {
                return hold("unreachable", 0.0, nowMs)
            }
            if (token.isEmpty() || token == deadToken) return stop("signed_out", null)
            val reply = fetchJson(url + "/api/entitlement", token)
            val recheckSeconds = min((reply.answer.opt("recheckAfterSeconds") as? Number)?.toLong() ?: 0, MAX_SECONDS)
            if (reply.status == 200 && reply.answer.opt("ok") == true && recheckSeconds > 0) {
                why = reply.answer.optString("status")
                keepContents(reply.answer)
                faults = 0
                yesUntilMs = nowMs + recheckSeconds * 1000
                return max(1.0, recheckSeconds * Random.nextDouble(0.9, 1.0)) // a little early, never late
            }
            val code = reply.answer.optJSONObject("error")?.opt("code") as? String ?: ""
            if (code.isEmpty()) return hold("unreachable", reply.retryAfter, nowMs) // not the service's answer
            if (reply.status == 401) {
                deadToken = token // it never works again, perhaps before it expires: one attempt to renew it
                if (attempt++ == 2) return stop(code, null)
                continue
            }
            if (reply.status == 403 || code == "not_configured") return stop(code, 600 * Random.nextDouble(1.0, 1.1))
            return hold(code, reply.retryAfter, nowMs)
        }
    }

    /** Services before plans send none of this, and only assistantLimit. */
    private fun keepContents(answer: JSONObject) {
        plan = answer.opt("plan") as? String ?: ""
        features = answer.optJSONArray("features") ?: JSONArray()
        val given = answer.optJSONObject("limits") ?: JSONObject()
        if (!given.has("assistants")) given.put("assistants", answer.opt("assistantLimit"))
        limits = given
    }

    /** 429, 502, 503, no network or no JSON are not refusals: the last yes stays valid until it expires. */
    private fun hold(code: String, retryAfter: Double, nowMs: Long): Double {
        if (!mayRun(nowMs)) why = code
        val backoff = min(300.0, 5 * 2.0.pow(faults++))
        return max(retryAfter, backoff) * Random.nextDouble(1.0, 1.2)
    }

    private fun stop(reason: String, seconds: Double?): Double? {
        why = reason
        faults = 0
        yesUntilMs = Long.MIN_VALUE
        return seconds
    }
}

// --- The key ---

/**
 * The headers of a request with a session token, also of one to your own server. A token that is bound to this app's key
 * needs a proof for each (DPoP, RFC 9449); so a copy of it is worth nothing elsewhere.
 */
fun authorize(token: String, method: String, url: String, nonce: String = ""): Map<String, String> {
    val key = boundTokens[token] ?: return mapOf("Authorization" to "Bearer $token")
    return mapOf("Authorization" to "DPoP $token", "DPoP" to prove(key, method, url, nonce, token))
}

private val boundTokens = ConcurrentHashMap<String, KeyPair>()

private fun prove(key: KeyPair, method: String, url: String, nonce: String, token: String = ""): String {
    val point = (key.public as ECPublicKey).w
    val jwk = JSONObject().put("kty", "EC").put("crv", "P-256")
        .put("x", base64Url(to32Bytes(point.affineX.toByteArray())))
        .put("y", base64Url(to32Bytes(point.affineY.toByteArray())))
    val header = JSONObject().put("typ", "dpop+jwt").put("alg", "ES256").put("jwk", jwk)
    val claims = JSONObject().put("htm", method).put("htu", url.substringBefore("?").substringBefore("#"))
        .put("jti", base64Url(ByteArray(16).also { SecureRandom().nextBytes(it) }))
        .put("iat", System.currentTimeMillis() / 1000)
    if (token.isNotEmpty()) claims.put("ath", base64Url(MessageDigest.getInstance("SHA-256").digest(token.toByteArray())))
    if (nonce.isNotEmpty()) claims.put("nonce", nonce)
    val signed = base64Url(header.toString().toByteArray()) + "." + base64Url(claims.toString().toByteArray())
    val signature = Signature.getInstance("SHA256withECDSA").run {
        initSign(key.private)
        update(signed.toByteArray())
        sign()
    }
    // DER: two numbers, each after two bytes, the second of which is its length.
    val middle = 4 + signature[3]
    val (r, s) = signature.copyOfRange(4, middle) to signature.copyOfRange(middle + 2, signature.size)
    return signed + "." + base64Url(to32Bytes(r) + to32Bytes(s))
}

private fun to32Bytes(number: ByteArray) =
    ByteArray(max(0, 32 - number.size)) + number.copyOfRange(max(0, number.size - 32), number.size)

private fun base64Url(bytes: ByteArray) = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes)

// --- The connection ---

/** Stores one refresh token; read returns "" if there is none. */
interface Vault {
    fun read(): String
    fun write(refreshToken: String)

    /** The key to which tokens are bound. Without one, anyone can use a copy of them. */
    fun openKey(): KeyPair? = null
}

/** Keeps and renews the session token of an app that its owner has approved. */
class Connection(
    private val url: String,
    private val clientId: String,
    private val vault: Vault,
    private val clockMs: () -> Long = { System.nanoTime() / 1_000_000 }
) {
    private var token = ""
    private var renewAtMs = Long.MIN_VALUE // a minute before the token expires

    /** Returns the session token, or "" if the owner has to approve first. Throws during an outage: try again later. */
    @Synchronized // one at a time, so that the newest refresh token is kept
    fun readToken(deadToken: String = ""): String {
        if (token != deadToken && clockMs() < renewAtMs) return token
        val refreshToken = vault.read()
        if (refreshToken.isEmpty()) return ""
        return fetchToken(mapOf("grant_type" to "refresh_token", "refresh_token" to refreshToken))
    }

    @Synchronized
    private fun fetchToken(fields: Map<String, String>): String {
        val nowMs = clockMs()
        val key = vault.openKey()
        val reply = fetchJson(url + "/oauth/token", fields = fields + ("client_id" to clientId), key = key)
        if (reply.status == 400 && reply.answer.opt("error") == "invalid_grant") {
            vault.write("") // ended by the owner or the operator, or because it was not used
            token = ""
            renewAtMs = Long.MIN_VALUE
            return ""
        }
        val accessToken = reply.answer.opt("access_token") as? String ?: ""
        val refreshToken = reply.answer.opt("refresh_token") as? String ?: ""
        if (reply.status != 200 || accessToken.isEmpty() || refreshToken.isEmpty()) {
            throw IOException("No token now: " + reply.status)
        }
        vault.write(refreshToken)
        boundTokens.remove(token)
        // A service before this version binds to no key.
        if (key != null && reply.answer.optString("token_type").equals("DPoP", ignoreCase = true)) {
            boundTokens[accessToken] = key
        }
        token = accessToken
        renewAtMs = nowMs + (reply.answer.optLong("expires_in").coerceIn(0, MAX_SECONDS) - 60) * 1000
        return token
    }

    // --- Approval ---

    /**
     * Asks for approval, off the main thread: openBrowser opens a URL, and returns the one that redirectUri receives.
     * Throws if the owner declines, or it returns "" because they closed the browser. Returns the session token.
     */
    fun connect(redirectUri: String, openBrowser: (address: String) -> String): String {
        val verifier = base64Url(ByteArray(32).also { SecureRandom().nextBytes(it) })
        val state = base64Url(ByteArray(32).also { SecureRandom().nextBytes(it) })
        val challenge = base64Url(MessageDigest.getInstance("SHA-256").digest(verifier.toByteArray()))
        val query = encode(
            mapOf(
                "client_id" to clientId, "response_type" to "code", "scope" to "account:read",
                "redirect_uri" to redirectUri, "state" to state, "code_challenge" to challenge,
                "code_challenge_method" to "S256"
            )
        )
        val back = openBrowser(url + "/oauth/authorize?" + query)
        if (back.isEmpty()) throw IOException("The browser was closed.")
        val answer = back.substringAfter("?", "").split("&").associate {
            it.substringBefore("=") to URLDecoder.decode(it.substringAfter("=", ""), "UTF-8")
        }
        // Any app can open our scheme: accept only an answer to this request from this service (RFC 9207).
        if (answer["state"] != state || answer["iss"] != url) throw IOException("The answer is not for this request.")
        val code = answer["code"] ?: throw IOException(answer["error_description"] ?: "The owner declined.")
        return fetchToken(
            mapOf(
                "grant_type" to "authorization_code", "code" to code,
                "redirect_uri" to redirectUri, "code_verifier" to verifier
            )
        )
    }
}

// The last part: on Android only.

@Volatile private var answers = LinkedBlockingQueue<String>()

/**
 * Opens a Custom Tab, and waits for what AnswerActivity receives. Not a web view: the owner sees which site asks. Who has
 * closed the tab opens another: the answer is that one's, and the call before returns "".
 */
fun openCustomTab(context: Context, address: String): String {
    answers.offer("")
    val own = LinkedBlockingQueue<String>()
    answers = own
    val tab = Bundle().apply { putBinder("android.support.customtabs.extra.SESSION", null) }
    val intent = Intent(Intent.ACTION_VIEW, Uri.parse(address)).putExtras(tab)
    context.startActivity(intent.addFlags(Intent.FLAG_ACTIVITY_NEW_TASK))
    return own.poll(15, TimeUnit.MINUTES) ?: throw IOException("The owner did not answer.")
}

/**
 * Receives the browser's answer, by the manifest:
 *
 *     <activity android:name=".AnswerActivity" android:exported="true">
 *       <intent-filter>
 *         <action android:name="android.intent.action.VIEW" />
 *         <category android:name="android.intent.category.DEFAULT" />
 *         <category android:name="android.intent.category.BROWSABLE" />
 *         <data android:scheme="com.example.studio" />
 *       </intent-filter>
 *     </activity>
 */
class AnswerActivity : Activity() {
    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        intent.data?.let { answers.offer(it.toString()) }
        // Returns to the app, which closes the tab.
        val app = packageManager.getLaunchIntentForPackage(packageName)
        if (app != null) startActivity(app.addFlags(Intent.FLAG_ACTIVITY_CLEAR_TOP))
        finish()
    }
}

/** Encrypts the refresh token with a key that never leaves the device's keystore, which has the app's own key too. */
class KeystoreVault(context: Context) : Vault {
    private val stored = context.getSharedPreferences("corner-office", Context.MODE_PRIVATE)

    override fun read(): String {
        val text = stored.getString("refresh-token", null) ?: return ""
        val bytes = Base64.getDecoder().decode(text)
        val cipher = Cipher.getInstance("AES/GCM/NoPadding")
        cipher.init(Cipher.DECRYPT_MODE, readKey(), GCMParameterSpec(128, bytes, 0, 12))
        return try {
            String(cipher.doFinal(bytes, 12, bytes.size - 12))
        } catch (otherKey: AEADBadTagException) {
            "" // restored from the backup of another device, whose key stayed there
        }
    }

    override fun write(refreshToken: String) {
        val cipher = Cipher.getInstance("AES/GCM/NoPadding")
        cipher.init(Cipher.ENCRYPT_MODE, readKey())
        val bytes = cipher.iv + cipher.doFinal(refreshToken.toByteArray())
        stored.edit().putString("refresh-token", Base64.getEncoder().encodeToString(bytes)).commit()
    }

    @Synchronized
    override fun openKey(): KeyPair {
        val store = KeyStore.getInstance("AndroidKeyStore").apply { load(null) }
        val known = store.getEntry("corner-office-proof", null) as? KeyStore.PrivateKeyEntry
        if (known != null) return KeyPair(known.certificate.publicKey, known.privateKey)
        val spec = KeyGenParameterSpec.Builder("corner-office-proof", KeyProperties.PURPOSE_SIGN)
            .setAlgorithmParameterSpec(ECGenParameterSpec("secp256r1"))
            .setDigests(KeyProperties.DIGEST_SHA256)
            .build()
        return KeyPairGenerator.getInstance("EC", "AndroidKeyStore").apply { initialize(spec) }.generateKeyPair()
    }

    private fun readKey(): SecretKey {
        val store = KeyStore.getInstance("AndroidKeyStore").apply { load(null) }
        store.getKey("corner-office", null)?.let { return it as SecretKey }
        val purposes = KeyProperties.PURPOSE_ENCRYPT or KeyProperties.PURPOSE_DECRYPT
        val spec = KeyGenParameterSpec.Builder("corner-office", purposes)
            .setBlockModes(KeyProperties.BLOCK_MODE_GCM)
            .setEncryptionPaddings(KeyProperties.ENCRYPTION_PADDING_NONE)
            .build()
        return KeyGenerator.getInstance("AES", "AndroidKeyStore").apply { init(spec) }.generateKey()
    }
}
