package testpg

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TCP starts a cluster that listens on a loopback port: over TLS only, with a
// certificate that names the host, or without TLS where the host is empty. It returns
// the connection string of that port, without any sslmode, and the file of the
// authority that signed the certificate.
func TCP(t testing.TB, host string) (dsn, authority string) {
	t.Helper()
	s := New(t)
	s.Stop()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
	must(err)
	s.port = l.Addr().(*net.TCPAddr).Port
	must(l.Close())
	settings := []string{"-c", "listen_addresses=127.0.0.1", "-c", "port=" + strconv.Itoa(s.port)}
	from := "host"
	if host != "" {
		from, settings = "hostssl", append(settings, "-c", "ssl=on")
		cert, key, root, err := certificate(host)
		must(err)
		authority = filepath.Join(t.TempDir(), "authority.pem")
		must(os.WriteFile(authority, root, 0o600))
		for name, text := range map[string][]byte{"server.crt": cert, "server.key": key} {
			path := filepath.Join(s.data(), name)
			must(os.WriteFile(path, text, 0o600))
			if s.as != nil {
				must(os.Chown(path, int(s.as.Uid), int(s.as.Gid)))
			}
		}
	}
	must(os.WriteFile(filepath.Join(s.data(), "pg_hba.conf"), []byte(access+from+" all all 127.0.0.1/32 trust\n"), 0o600))
	must(s.Start(settings...))
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)), Path: "/postgres"}
	return u.String(), authority
}

// certificate makes an authority and, signed by it, a server's certificate for the host.
func certificate(host string) (cert, key, root []byte, err error) {
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, nil, err
	}
	server, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, nil, err
	}
	now := time.Now()
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of a test"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: host}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if ip := net.ParseIP(host); ip != nil {
		leaf.IPAddresses = []net.IP{ip}
	} else {
		leaf.DNSNames = []string{host}
	}
	rootDER, err := x509.CreateCertificate(rand.Reader, ca, ca, signer.Public(), signer)
	if err != nil {
		return nil, nil, nil, err
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, ca, server.Public(), signer)
	if err != nil {
		return nil, nil, nil, err
	}
	keyDER, err := x509.MarshalECPrivateKey(server)
	if err != nil {
		return nil, nil, nil, err
	}
	block := func(kind string, der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}) }
	return block("CERTIFICATE", leafDER), block("EC PRIVATE KEY", keyDER), block("CERTIFICATE", rootDER), nil
}
