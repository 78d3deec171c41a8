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
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.security.auth.x500.X500Principal;

import io.pipeset.record.KeyPrefixes;
import io.pipeset.record.Operation;
import io.pipeset.request.Allowed;
import io.pipeset.request.Callbacks;
import io.pipeset.request.Client;
import io.pipeset.request.Client.Limits;
import io.pipeset.request.Client.Right;
import io.pipeset.request.ClientSources;
import io.pipeset.request.ClientsProperties;
import io.pipeset.request.ClientsProperties.Policy;
import io.pipeset.request.ClientsProperties.PolicyLimits;
import io.pipeset.request.RefusedAccessException;
import io.pipeset.request.Setting;
import io.pipeset.web.problem.Problems;
import org.jspecify.annotations.Nullable;

/**
 * Finds clients by the hashes of their keys, and by the subjects of their certificates.
 * The keys themselves are not known here.
 */
final class KnownClients {

	private static final Pattern NAME = Pattern.compile("[a-z0-9-]{1,32}");

	private static final Set<String> RESERVED_NAMES = Set.of(Client.NONE, Client.SERVICE.name());

	/** The name of a command of Redis or of a module; a subcommand may follow. */
	private static final Pattern OPERATION = Pattern.compile("[A-Z][A-Z0-9._-]*( [A-Z][A-Z0-9._-]*)?");

	private static final Pattern HASH = Pattern.compile("[0-9a-fA-F]{64}");

	/** Java writes U+0000 like this into a subject. */
	private static final String NUL = "\\00";

	/**
	 * The SHA-256 of zero bytes. A shell makes this hash if the variable with the key is
	 * not set.
	 */
	private static final String HASH_OF_EMPTY_KEY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

	private static final String CREATE_KEY = "Create a key with openssl rand -hex 32, and its hash with"
			+ " printf %s KEY | sha256sum.";

	private static final Allowed<Long> ONE_OR_MORE = Allowed.atLeast(1);

	private final List<ClientKey> keys = new ArrayList<>();

	private final Map<X500Principal, Client> clientsBySubject = new HashMap<>();

	/**
	 * Cloned for each key, because looking the algorithm up takes half as long as using
	 * it.
	 */
	private final MessageDigest sha256 = sha256();

	/**
	 * Creates the clients from their properties.
	 * @throws RefusedAccessException if a property has a wrong value
	 */
	KnownClients(ClientsProperties properties) {
		Map<String, String> namesByHash = new TreeMap<>();
		new TreeMap<>(properties.clients()).forEach((name, policy) -> {
			if (!NAME.matcher(name).matches() || RESERVED_NAMES.contains(name)) {
				throw new RefusedAccessException("pipeset.clients names a client '" + name + "', which is not allowed.",
						"Use a name of 1 to 32 lowercase letters, digits and dashes. The names " + Client.NONE + " and "
								+ Client.SERVICE.name() + " are reserved.");
			}
			Client client = client(name, policy, properties.clients().size() > 1);
			String property = "pipeset.clients." + name + ".key-sha256";
			if (policy.certificate() != null) {
				addCertificate(policy.certificate(), client);
			}
			else if (policy.keySha256().isEmpty()) {
				throw new RefusedAccessException(property + " is missing, and the client has no certificate.",
						"Set key-sha256 to the hash of a key, or set certificate. " + CREATE_KEY);
			}
			for (String hash : policy.keySha256()) {
				if (!HASH.matcher(hash).matches()) {
					throw new RefusedAccessException(property
							+ " must be the SHA-256 of each key of the client, in 64 hexadecimal digits. One value has "
							+ hash.length()
							+ " characters and is no such hash. It is not shown because it may be a key.", CREATE_KEY);
				}
				if (hash.equalsIgnoreCase(HASH_OF_EMPTY_KEY)) {
					throw new RefusedAccessException(
							property + " has the SHA-256 of an empty key. Any caller could use an empty key.",
							"The variable with the key was empty when the hash was created. " + CREATE_KEY);
				}
				String other = namesByHash.put(hash.toLowerCase(Locale.ROOT), name);
				if (other != null) {
					throw new RefusedAccessException(
							property + " has a value that is already in pipeset.clients." + other + ".key-sha256.",
							"Give each client keys of its own. " + CREATE_KEY);
				}
				this.keys.add(new ClientKey(HexFormat.of().parseHex(hash), client));
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
					"Print the subject with openssl x509 -in FILE -noout -subject -nameopt RFC2253.");
		}
		if (name.getName().isEmpty()) {
			throw new RefusedAccessException(property + " is empty.",
					"Set a subject such as CN=" + client.name() + ", or leave the property out.");
		}
		if (!isPrintableAscii(name)) {
			throw new RefusedAccessException(
					property + " must have printable ASCII characters only, not '" + Problems.excerpt(subject) + "'.",
					"Other characters can look like ASCII. Use a certificate with a subject in ASCII, or give the client"
							+ " a key (key-sha256).");
		}
		Client other = this.clientsBySubject.put(name, client);
		if (other != null) {
			throw new RefusedAccessException(
					property + " is '" + Problems.excerpt(subject) + "', and pipeset.clients." + other.name()
							+ ".certificate is the same subject.",
					"Give each client a certificate with a subject of its own.");
		}
	}

	/** Finds a client by its name; {@code null} if there is none. */
	@Nullable Client named(String name) {
		return Stream.concat(this.keys.stream().map((key) -> key.client), this.clientsBySubject.values().stream())
			.filter((client) -> client.name().equals(name))
			.findFirst()
			.orElse(null);
	}

	private static Client client(String name, Policy policy, boolean shares) {
		Set<String> operations = policy.operations();
		List<String> prefixes = policy.keyPrefixes();
		if (prefixes != null
				&& prefixes.stream().anyMatch((prefix) -> prefix.isEmpty() || prefix.startsWith("pipeset:"))) {
			throw new RefusedAccessException("pipeset.clients." + name
					+ ".key-prefixes must be prefixes of one or more characters that do not begin with 'pipeset:'.",
					"Leave key-prefixes out if the client may use any key.");
		}
		EnumSet<Right> rights = EnumSet.noneOf(Right.class);
		add(rights, Right.SCRIPTS, policy.scripts());
		add(rights, Right.SWEEPS, policy.sweeps());
		add(rights, Right.ANALYSES, policy.analyses());
		add(rights, Right.TUNINGS, policy.tunings());
		return new Client(name, (operations != null) ? operationNames(name, operations) : null,
				(prefixes != null) ? KeyPrefixes.of(prefixes) : KeyPrefixes.ANY,
				Callbacks.prefixes("pipeset.clients." + name + ".callbacks", policy.callbacks()),
				sources(name, policy.sources()), rights, limits(name, policy.limits()), shares);
	}

	/** Names of queries have no scheme. */
	private static ClientSources sources(String client, List<String> sources) {
		List<String> urls = sources.stream().filter((source) -> source.contains(":")).toList();
		return new ClientSources(Callbacks.prefixes("pipeset.clients." + client + ".sources", urls),
				sources.stream().filter((source) -> !source.contains(":")).collect(Collectors.toSet()));
	}

	/** The names of operations in the spelling of the table and of servers. */
	private static Set<String> operationNames(String client, Set<String> operations) {
		Set<String> names = new LinkedHashSet<>();
		for (String operation : operations) {
			String name = operation.toUpperCase(Locale.ROOT).replace('|', ' ');
			Operation row = Operation.find(name);
			if (row == null && !OPERATION.matcher(name).matches()) {
				throw new RefusedAccessException(
						"pipeset.clients." + client + ".operations has '" + Problems.excerpt(operation)
								+ "', which cannot be the name of an operation.",
						"Use names such as SET, BF.ADD or XGROUP CREATE.");
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

	private static void add(Set<Right> rights, Right right, boolean granted) {
		if (granted) {
			rights.add(right);
		}
	}

	private static long limit(String client, String name, @Nullable Long value) {
		return limit(client, name, value, ONE_OR_MORE);
	}

	private static long limit(String client, String name, @Nullable Long value, Allowed<Long> allowed) {
		if (value != null && !allowed.within().test(value)) {
			throw new RefusedAccessException("pipeset.clients." + client + ".limits." + name + " must be "
					+ allowed.bounds() + ", not " + value + ".",
					"Leave it out if only the limits of the service apply.");
		}
		return (value != null) ? value : Long.MAX_VALUE;
	}

	/**
	 * Finds the client of a key. The time does not depend on the key, so a caller cannot
	 * learn a key from it.
	 * @return {@code null} if no client has the key
	 */
	@Nullable Client find(String key) {
		byte[] hash = hash(key);
		Client found = null;
		for (ClientKey known : this.keys) {
			if (MessageDigest.isEqual(hash, known.hash)) {
				found = known.client;
			}
		}
		return found;
	}

	/**
	 * Finds the client whose certificate has this subject.
	 * @return {@code null} if no client has one
	 */
	@Nullable Client find(X500Principal subject) {
		return (isPrintableAscii(subject)) ? this.clientsBySubject.get(subject) : null;
	}

	/**
	 * Whether a subject has only printable ASCII characters. Java treats some other
	 * characters as equal to ASCII characters: U+017F equals s, and U+FF4F equals o. It
	 * ignores control characters at both ends.
	 */
	private static boolean isPrintableAscii(X500Principal subject) {
		String name = subject.getName();
		return name.chars().allMatch((character) -> character >= ' ' && character < 0x7F) && !name.contains(NUL);
	}

	boolean hasCertificates() {
		return !this.clientsBySubject.isEmpty();
	}

	/** ISO 8859-1 restores the bytes, because Tomcat makes a character of each byte. */
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

	/** The hash of a key, and the client that has it. */
	private static final class ClientKey {

		private final byte[] hash;

		private final Client client;

		private ClientKey(byte[] hash, Client client) {
			this.hash = hash;
			this.client = client;
		}

	}

}
