import android.content.Context
import android.os.SystemClock
import java.io.IOException
import kotlin.concurrent.thread

/** Make one when your app starts. */
class Office(private val context: Context) {
    private val url = "https://office.example.com"
    private val connection = Connection(url, "studio", KeystoreVault(context), SystemClock::elapsedRealtime)
    private val gate = CompanyGate(url, SystemClock::elapsedRealtime, connection::readToken)
    private val asking = thread(isDaemon = true) {
        gate.keepAsking { println((if (it.mayRun()) "run " else "wait ") + it.why) }
    }

    /** When the person presses "Sign in". */
    fun signIn() = thread {
        try {
            connection.connect("com.example.studio:/signed-in") { address -> openCustomTab(context, address) }
            gate.wake()
        } catch (failure: IOException) {
            println(failure.message)
        }
    }
}
