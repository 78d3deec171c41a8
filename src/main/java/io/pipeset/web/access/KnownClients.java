package io.pipeset.web.access;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

import javax.security.auth.x500.X500Principal;

import io.pipeset.job.Client;
import io.pipeset.job.Client.Limits;
import io.pipeset.job.Client.Right;
import io.pipeset.job.ClientsProperties;
import io.pipeset.job.ClientsProperties.Policy;
import io.pipeset.job.ClientsProperties.PolicyLimits;
import io.pipeset.job.settings.Allowed;
import io.pipeset.job.settings.Setting;
import io.pipeset.record.KeyPrefixes;
import io.pipeset.record.Operation;
import io.pipeset.web.problem.Problems;
import org.jspecify.annotations.Nullable;

/**
 * The clients by their keys, of which only hashes are known, and by the names of their
 * certificates.
 */
final class KnownClients {

	private static final Pattern NAME = Pattern.compile("[a-z0-9-]{1,32}");

	private static final Set<String> RESERVED_NAMES = Set.of(Client.NONE, Client.SERVICE.name());

	/** A name of Redis or of a module, and perhaps that of a subcommand. */
	private static final Pattern OPERATION = Pattern.compile("[A-Z][A-Z0-9._-]*( [A-Z][A-Z0-9._-]*)?");

	private static final Pattern HASH = Pattern.compile("[0-9a-fA-F]{64}");

	/** What Java writes into a name for U+0000. */
	private static final String NUL = "\\00";

	/** The SHA-256 of no bytes, as a shell makes it of a variable that is not set. */
	private static final String HASH_OF_NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

	private static final String MAKE = "Make a key by openssl rand -hex 32, and its hash by printf %s KEY | sha256sum.";

	private static final Allowed<Long> ONE_OR_MORE = Allowed.atLeast(1);

	private final List<Entry> entries = new ArrayList<>();

	private final Map<X500Principal, Client> certified = new HashMap<>();

	/** Copied for each key: to look for an algorithm takes half as long as to use it. */
	private final MessageDigest sha256 = sha256();

	/**
	 * Reads the clients.
	 * @throws RefusedAccessException if they cannot stand as they are
	 */
	KnownClients(ClientsProperties properties) {
		Map<String, String> clientsOf = new TreeMap<>();
		new TreeMap<>(properties.clients()).forEach((name, policy) -> {
			if (!NAME.matcher(name).matches() || RESERVED_NAMES.contains(name)) {
				throw new RefusedAccessException("pipeset.clients names a client '" + name + "'.",
						"Call it by 1 to 32 small letters, digits and dashes, and not " + Client.NONE + " or "
								+ Client.SERVICE.name() + ".");
			}
			Client client = client(name, policy, properties.clients().size() > 1);
			String property = "pipeset.clients." + name + ".key-sha256";
			if (policy.certificate() != null) {
				addCertificate(policy.certificate(), client);
			}
			else if (policy.keySha256().isEmpty()) {
				throw new RefusedAccessException(property + " is missing, and so is certificate.", MAKE);
			}
			for (String hash : policy.keySha256()) {
				if (!HASH.matcher(hash).matches()) {
					throw new RefusedAccessException(property
							+ " must be the SHA-256 of each key of the client, of 64 hexadecimal digits, and has a value of "
							+ hash.length() + " characters that is none, and is not shown, as it may be a key.", MAKE);
				}
				if (hash.equalsIgnoreCase(HASH_OF_NOTHING)) {
					throw new RefusedAccessException(
							property + " has the SHA-256 of an empty key, with which anybody could call.",
							"The variable with the key was empty as the hash was made. " + MAKE);
				}
				String other = clientsOf.put(hash.toLowerCase(Locale.ROOT), name);
				if (other != null) {
					throw new RefusedAccessException(
							property + " has a value that stands at pipeset.clients." + other + ".key-sha256, too.",
							"Give each client keys of its own. " + MAKE);
				}
				this.entries.add(new Entry(HexFormat.of().parseHex(hash), client));
			}
		});
	}

	private void addCertificate(String subject, Client client) {
		String property = "pipeset.clients." + client.name() + ".certificate";
		X500Principal name;
		try {
			name = new X500Principal(subject);
		}
		catch (IllegalArgumentException ex) {
			throw new RefusedAccessException(
					property + " must be the subject of the client's certificate, such as CN=" + client.name()
							+ ",O=Example, not '" + Problems.excerpt(subject) + "'.",
					"Take it from the certificate by openssl x509 -in FILE -noout -subject -nameopt RFC2253.");
		}
		if (name.getName().isEmpty()) {
			throw new RefusedAccessException(property + " is empty.",
					"Name a subject such as CN=" + client.name() + ", or leave the property out.");
		}
		if (!isPlain(name)) {
			throw new RefusedAccessException(
					property + " has characters that are none of printable ASCII: '" + Problems.excerpt(subject) + "'.",
					"Others may look like them. Have a certificate issued with a plain name, or give the client a key (key-sha256).");
		}
		Client other = this.certified.put(name, client);
		if (other != null) {
			throw new RefusedAccessException(property + " is '" + Problems.excerpt(subject)
					+ "', and so is pipeset.clients." + other.name() + ".certificate.",
					"Give each client a certificate with a name of its own.");
		}
	}

	private static Client client(String name, Policy policy, boolean shares) {
		Set<String> operations = policy.operations();
		List<String> prefixes = policy.keyPrefixes();
		if (prefixes != null
				&& prefixes.stream().anyMatch((prefix) -> prefix.isEmpty() || prefix.startsWith("pipeset:"))) {
			throw new RefusedAccessException("pipeset.clients." + name
					+ ".key-prefixes must be beginnings of keys, of one character at least, and none of 'pipeset:'.",
					"Leave key-prefixes out for a client that may use any key.");
		}
		EnumSet<Right> rights = EnumSet.noneOf(Right.class);
		add(rights, Right.SCRIPTS, policy.scripts());
		add(rights, Right.SWEEPS, policy.sweeps());
		add(rights, Right.ANALYSES, policy.analyses());
		add(rights, Right.TUNINGS, policy.tunings());
		return new Client(name, (operations != null) ? names(name, operations) : null,
				(prefixes != null) ? KeyPrefixes.of(prefixes) : KeyPrefixes.ANY, rights, limits(name, policy.limits()),
				shares);
	}

	/** Names of operations as the table and servers have them. */
	private static Set<String> names(String client, Set<String> operations) {
		Set<String> names = new LinkedHashSet<>();
		for (String operation : operations) {
			String name = operation.toUpperCase(Locale.ROOT).replace('|', ' ');
			Operation row = Operation.find(name);
			if (row == null && !OPERATION.matcher(name).matches()) {
				throw new RefusedAccessException(
						"pipeset.clients." + client + ".operations has '" + Problems.excerpt(operation)
								+ "', which is no name of an operation.",
						"Write names such as SET, BF.ADD or XGROUP CREATE.");
			}
			names.add((row != null) ? row.toString() : name);
		}
		return names;
	}

	private static Limits limits(String name, PolicyLimits limits) {
		return new Limits(limit(name, "max-records", limits.maxRecords()),
				limit(name, "max-bytes", (limits.maxBytes() != null) ? limits.maxBytes().toBytes() : null),
				limit(name, "rate-limit", limits.rateLimit(), Setting.RATE_LIMIT.allowed()),
				(int) Math.min(Integer.MAX_VALUE,
						limit(name, "max-jobs", (limits.maxJobs() != null) ? limits.maxJobs().longValue() : null)));
	}

	private static void add(Set<Right> rights, Right right, boolean given) {
		if (given) {
			rights.add(right);
		}
	}

	private static long limit(String client, String name, @Nullable Long most) {
		return limit(client, name, most, ONE_OR_MORE);
	}

	private static long limit(String client, String name, @Nullable Long most, Allowed<Long> allowed) {
		if (most != null && !allowed.within().test(most)) {
			throw new RefusedAccessException("pipeset.clients." + client + ".limits." + name + " must be "
					+ allowed.bounds() + ", not " + most + ".", "Leave it out for no limit but that of the service.");
		}
		return (most != null) ? most : Long.MAX_VALUE;
	}

	/**
	 * Finds the client that has a key. It takes as long whatever the key is.
	 * @return {@code null} if no client has it
	 */
	@Nullable Client find(String key) {
		byte[] hash = hash(key);
		Client found = null;
		for (Entry entry : this.entries) {
			if (MessageDigest.isEqual(hash, entry.hash)) {
				found = entry.client;
			}
		}
		return found;
	}

	/**
	 * Finds the client that has a certificate of that name.
	 * @return {@code null} if no client has
	 */
	@Nullable Client find(X500Principal subject) {
		return (isPlain(subject)) ? this.certified.get(subject) : null;
	}

	/**
	 * Whether a name has no characters but the printable ones of ASCII. Java takes names
	 * for equal whose other characters only look alike: U+017F is an s to it, and U+FF4F
	 * an o. It does not count control characters at the ends.
	 */
	private static boolean isPlain(X500Principal subject) {
		String name = subject.getName();
		return name.chars().allMatch((character) -> character >= ' ' && character < 0x7F) && !name.contains(NUL);
	}

	/** Whether any client has a certificate. */
	boolean haveCertificates() {
		return !this.certified.isEmpty();
	}

	/** Tomcat hands a header over byte by byte. */
	private byte[] hash(String key) {
		try {
			MessageDigest digest = (MessageDigest) this.sha256.clone();
			return digest.digest(key.getBytes(StandardCharsets.ISO_8859_1));
		}
		catch (CloneNotSupportedException ex) {
			throw new IllegalStateException("The JDK's SHA-256 can be copied", ex);
		}
	}

	private static MessageDigest sha256() {
		try {
			return MessageDigest.getInstance("SHA-256");
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every JDK has SHA-256", ex);
		}
	}

	/** A key of a client. */
	private static final class Entry {

		private final byte[] hash;

		private final Client client;

		private Entry(byte[] hash, Client client) {
			this.hash = hash;
			this.client = client;
		}

	}

}
