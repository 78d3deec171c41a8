package io.pipeset.web;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.X509Certificate;

import javax.net.ssl.SSLContext;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;

import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslStoreBundle;
import org.springframework.util.FileSystemUtils;

/** An authority and the certificates that it issues, as PEM files in a folder. */
final class Certificates implements AutoCloseable {

	private final Path folder;

	private final X509Bundle authority;

	Certificates() {
		try {
			this.folder = Files.createTempDirectory("pipeset-certificates-");
			this.authority = new CertificateBuilder().subject("CN=authority")
				.setIsCertificateAuthority(true)
				.buildSelfSigned();
			Files.writeString(file("ca.crt"), this.authority.getCertificatePEM());
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
			Files.writeString(file(name + ".key"), issued.getPrivateKeyPEM());
			Files.writeString(file(name + ".crt"), issued.getCertificatePEM());
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
		FileSystemUtils.copyRecursively(others.folder, this.folder);
	}

	/** TLS that trusts the authority. */
	SSLContext trusting() throws Exception {
		KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
		trusted.load(null);
		trusted.setCertificateEntry("authority", this.authority.getCertificate());
		return SslBundle.of(SslStoreBundle.of(null, null, trusted)).createSslContext();
	}

	@Override
	public void close() throws IOException {
		FileSystemUtils.deleteRecursively(this.folder);
	}

}
