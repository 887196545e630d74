/**
 * The parts of Android that the Kotlin client calls, as declarations, so that it compiles without an Android SDK. The bodies and
 * values never run.
 */
export const androidStubs = {
  "app.kt": `package android.app
open class Activity : android.content.Context() {
    val intent: android.content.Intent = error("never runs")
    protected open fun onCreate(savedInstanceState: android.os.Bundle?) {}
    fun finish() {}
}`,
  "content.kt": `package android.content
open class Context {
    val packageName: String = error("never runs")
    val packageManager: PackageManager = error("never runs")
    fun startActivity(intent: Intent) {}
    fun getSharedPreferences(name: String, mode: Int): SharedPreferences = error("never runs")
    companion object { const val MODE_PRIVATE = 0 }
}
class PackageManager { fun getLaunchIntentForPackage(name: String): Intent? = error("never runs") }
class Intent(action: String, data: android.net.Uri) {
    val data: android.net.Uri? = error("never runs")
    fun putExtras(extras: android.os.Bundle): Intent = error("never runs")
    fun addFlags(flags: Int): Intent = error("never runs")
    companion object {
        const val ACTION_VIEW = ""
        const val FLAG_ACTIVITY_NEW_TASK = 0
        const val FLAG_ACTIVITY_CLEAR_TOP = 0
    }
}
interface SharedPreferences {
    fun getString(key: String, otherwise: String?): String?
    fun edit(): Editor
    interface Editor { fun putString(key: String, value: String?): Editor; fun commit(): Boolean }
}`,
  "net.kt": `package android.net
class Uri { companion object { fun parse(text: String): Uri = error("never runs") } }`,
  "os.kt": `package android.os
interface IBinder
class Bundle { fun putBinder(key: String, value: IBinder?) {} }`,
  "keystore.kt": `package android.security.keystore
class KeyGenParameterSpec : java.security.spec.AlgorithmParameterSpec {
    class Builder(alias: String, purposes: Int) {
        fun setBlockModes(vararg modes: String): Builder = error("never runs")
        fun setAlgorithmParameterSpec(spec: java.security.spec.AlgorithmParameterSpec): Builder = error("never runs")
        fun setDigests(vararg digests: String): Builder = error("never runs")
        fun setEncryptionPaddings(vararg paddings: String): Builder = error("never runs")
        fun build(): KeyGenParameterSpec = error("never runs")
    }
}
object KeyProperties {
    const val PURPOSE_ENCRYPT = 1
    const val PURPOSE_DECRYPT = 2
    const val PURPOSE_SIGN = 4
    const val DIGEST_SHA256 = ""
    const val BLOCK_MODE_GCM = ""
    const val ENCRYPTION_PADDING_NONE = ""
}`,
};
