/**
 * The parts of Android that the Kotlin client calls, as declarations, so that it compiles without an Android SDK. What starts an
 * activity can run, and the rest never does.
 */
export const androidStubs = {
  "app.kt": `package android.app
open class Activity : android.content.Context() {
    var intent = android.content.Intent("", android.net.Uri(""))
    protected open fun onCreate(savedInstanceState: android.os.Bundle?) {}
    fun finish() {}
}`,
  "content.kt": `package android.content
open class Context {
    val packageName = ""
    val packageManager = PackageManager()
    fun startActivity(intent: Intent) {}
    fun getSharedPreferences(name: String, mode: Int): SharedPreferences = error("never runs")
    companion object { const val MODE_PRIVATE = 0 }
}
class PackageManager { fun getLaunchIntentForPackage(name: String): Intent? = null }
class Intent(action: String, val data: android.net.Uri?) {
    fun putExtras(extras: android.os.Bundle): Intent = this
    fun addFlags(flags: Int): Intent = this
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
class Uri(private val text: String) {
    override fun toString() = text
    companion object { fun parse(text: String) = Uri(text) }
}`,
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
