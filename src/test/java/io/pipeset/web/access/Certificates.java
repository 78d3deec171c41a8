package io.pipeset.web.access;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.List;

import javax.net.ssl.SSLContext;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;

import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslStoreBundle;

/** An authority and the certificates that it issues, as PEM files in a folder. */
final class Certificates {

	private final Path folder;

	private final X509Bundle authority;

	Certificates() {
		try {
			// It stays, as a service may watch it for longer than its test runs.
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

	/** Issues a certificate for 127.0.0.1, in the place of the one that there is. */
	X509Certificate issue(String name) {
		try {
			X509Bundle issued = new CertificateBuilder().subject("CN=" + name)
				.addSanIpAddress("127.0.0.1")
				.addExtendedKeyUsageServerAuth()
				.addExtendedKeyUsageClientAuth()
				.buildIssuedBy(this.authority);
			write(name + ".key", issued.getPrivateKeyPEM());
			write(name + ".crt", issued.getCertificatePEM());
			return issued.getCertificate();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	Path file(String name) {
		return this.folder.resolve(name);
	}

	/** The files of another authority take the place of those with the same names. */
	void replaceBy(Certificates others) throws IOException {
		for (String name : List.of("ca.crt", "client.key", "client.crt")) {
			write(name, Files.readString(others.file(name)));
		}
	}

	/** Nobody reads a file that is written in part. */
	private void write(String name, String pem) throws IOException {
		Path written = Files.writeString(file(name + ".new"), pem);
		Files.move(written, file(name), StandardCopyOption.ATOMIC_MOVE);
	}

	/** TLS that trusts the authority. */
	SSLContext trusting() throws Exception {
		KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
		trusted.load(null);
		trusted.setCertificateEntry("authority", this.authority.getCertificate());
		return SslBundle.of(SslStoreBundle.of(null, null, trusted)).createSslContext();
	}

}
