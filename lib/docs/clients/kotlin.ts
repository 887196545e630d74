/** A complete client in Kotlin, on Android and the JVM with `org.json`, which Android includes. */
export const kotlinClient = `
import java.net.HttpURLConnection
import java.net.URL
import kotlin.math.max
import kotlin.math.min
import kotlin.math.pow
import kotlin.random.Random
import org.json.JSONObject

/**
 * Tracks whether the company may run and when to ask again. Run while mayRun() is true; otherwise show why.
 * readToken returns the session token, or "" if a person has to sign in first. It throws during an outage.
 */
class CompanyGate(
    private val url: String,
    // A monotonic clock. On Android pass SystemClock::elapsedRealtime, which includes sleep.
    private val clockMs: () -> Long = { System.nanoTime() / 1_000_000 },
    private val readToken: () -> String,
) {
    var why = "not_asked"
        private set
    private var yesUntilMs = Long.MIN_VALUE // the last yes is valid until then, even during an outage
    private var faults = 0
    private var deadToken = ""

    fun mayRun(nowMs: Long = clockMs()) = nowMs < yesUntilMs

    /** Asks once, off the main thread. Returns the seconds until the next call; null: call again after a new sign-in. */
    fun ask(nowMs: Long = clockMs()): Double? {
        val token = try {
            readToken()
        } catch (failure: Exception) {
            return hold("unreachable", 0.0, nowMs)
        }
        if (token.isEmpty() || token == deadToken) return stop("signed_out", null)
        val (status, answer, retryAfter) = fetchEntitlement(token)
        if (status == 200 && answer.optBoolean("ok")) {
            val recheckSeconds = answer.getLong("recheckAfterSeconds")
            why = answer.getString("status")
            faults = 0
            yesUntilMs = nowMs + recheckSeconds * 1000
            return max(1.0, recheckSeconds * Random.nextDouble(0.9, 1.0)) // a little early, never late
        }
        val code = answer.optJSONObject("error")?.optString("code") ?: "unreachable"
        if (status == 401) {
            deadToken = token // this token never works again: have the owner sign in
            return stop(code, null)
        }
        if (status == 403 || code == "not_configured") return stop(code, 600 * Random.nextDouble(1.0, 1.1))
        return hold(code, retryAfter, nowMs)
    }

    /** 429, 503, no network or no JSON are not refusals: the last yes stays valid until it expires. */
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

    private fun fetchEntitlement(token: String): Triple<Int, JSONObject, Double> = try {
        val connection = URL("$url/api/entitlement").openConnection() as HttpURLConnection
        connection.connectTimeout = 10_000
        connection.readTimeout = 10_000
        connection.setRequestProperty("Authorization", "Bearer $token")
        val status = connection.responseCode
        val stream = if (status < 400) connection.inputStream else connection.errorStream
        val answer = JSONObject(stream.bufferedReader().use { it.readText() })
        Triple(status, answer, connection.getHeaderField("Retry-After")?.toDoubleOrNull() ?: 0.0)
    } catch (failure: Exception) {
        Triple(0, JSONObject(), 0.0)
    }
}
`;
