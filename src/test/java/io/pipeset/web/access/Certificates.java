package io.pipeset.web.access;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;

/** An authority and the certificates that it issues, as PEM files in a folder. */
final class Certificates {

	private final Path folder;

	private final X509Bundle authority;

	Certificates() {
		try {
			// The folder is not deleted, because a service may watch it after the test.
			this.folder = Files.createTempDirectory(Path.of("target").toAbsolutePath(), "certificates-");
			this.authority = new CertificateBuilder().subject("CN=authority")
				.setIsCertificateAuthority(true)
				.buildSelfSigned();
			write("ca.crt", this.authority.getCertificatePEM());
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Issues a certificate for 127.0.0.1, which replaces an earlier one of this name. */
	X509Certificate issue(String name) {
		try {
			X509Bundle issued = issued("CN=" + name, Instant.now().plus(Duration.ofDays(1)));
			write(name + ".key", issued.getPrivateKeyPEM());
			write(name + ".crt", issued.getCertificatePEM());
			return issued.getCertificate();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private X509Bundle issued(String subject, Instant end) throws Exception {
		return new CertificateBuilder().subject(subject)
			.notBefore(end.minus(Duration.ofDays(2)))
			.notAfter(end)
			.addSanIpAddress("127.0.0.1")
			.addExtendedKeyUsageServerAuth()
			.addExtendedKeyUsageClientAuth()
			.buildIssuedBy(this.authority);
	}

	/**
	 * The key manager of a caller that sends its certificate to every server. Other
	 * callers send it only if the server names its authority.
	 * @param subject the subject of the certificate
	 * @param end the end of its validity
	 */
	X509ExtendedKeyManager caller(String subject, Instant end) {
		try {
			X509Bundle issued = issued(subject, end);
			return new Caller(issued.getKeyPair().getPrivate(), issued.getCertificatePathWithRoot());
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	Path file(String name) {
		return this.folder.resolve(name);
	}

	/** Replaces the authority's and the client's files by those of another authority. */
	void replaceBy(Certificates others) throws IOException {
		for (String name : List.of("ca.crt", "client.key", "client.crt")) {
			write(name, Files.readString(others.file(name)));
		}
	}

	/** Replaces the file of this authority by that of another one. */
	void trust(Certificates other) throws IOException {
		write("ca.crt", Files.readString(other.file("ca.crt")));
	}

	/** Moves the complete file into place, so that no reader sees a part of it. */
	private void write(String name, String pem) throws IOException {
		Path written = Files.writeString(file(name + ".new"), pem);
		Files.move(written, file(name), StandardCopyOption.ATOMIC_MOVE);
	}

	/**
	 * A TLS context that trusts the authority.
	 * @param caller the certificate of the caller, if it has one
	 */
	SSLContext trusting(KeyManager... caller) throws Exception {
		KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
		trusted.load(null);
		trusted.setCertificateEntry("authority", this.authority.getCertificate());
		TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
		trust.init(trusted);
		SSLContext context = SSLContext.getInstance("TLS");
		context.init(caller, trust.getTrustManagers(), null);
		return context;
	}

	private static final class Caller extends X509ExtendedKeyManager {

		private final PrivateKey key;

		private final X509Certificate[] chain;

		private Caller(PrivateKey key, X509Certificate... chain) {
			this.key = key;
			this.chain = chain;
		}

		@Override
		public String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
			return "caller";
		}

		@Override
		public String chooseEngineClientAlias(String[] types, Principal[] issuers, SSLEngine engine) {
			return "caller";
		}

		@Override
		public PrivateKey getPrivateKey(String alias) {
			return this.key;
		}

		@Override
		public X509Certificate[] getCertificateChain(String alias) {
			return this.chain.clone();
		}

		@Override
		public String[] getClientAliases(String type, Principal[] issuers) {
			return new String[] { "caller" };
		}

		@Override
		public String[] getServerAliases(String type, Principal[] issuers) {
			return new String[0];
		}

		@Override
		public String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
			throw new UnsupportedOperationException("A caller is not a server");
		}

	}

}
