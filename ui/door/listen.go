package door

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"memdesk/internal/privatefile"
	"memdesk/model"
)

// LocalAddress binds an address without a host to this machine only: 0.0.0.0 or [::] asks for every
// interface.
func LocalAddress(s string) string {
	if strings.HasPrefix(s, ":") {
		return "127.0.0.1" + s
	}
	return s
}

// maxPEM is the largest certificate or key file, in bytes.
const maxPEM = 1 << 20

// Listen listens for HTTP, or for HTTPS with a certificate, which only its owner may change, and its key, which only
// its owner may read: PEM files. Other machines are served over TLS only, because tokens and memory would travel in
// clear.
func Listen(address, cert, key string) (l net.Listener, scheme string, err error) {
	var certificate *tls.Config
	if cert != "" || key != "" {
		certPEM, certErr := privatefile.Read(cert, privatefile.Unwritable, maxPEM)
		keyPEM, keyErr := privatefile.Read(key, privatefile.Unreadable, maxPEM)
		pair, err := tls.X509KeyPair(certPEM, keyPEM)
		if err := cmp.Or(certErr, keyErr, err); err != nil {
			return nil, "", model.Errorf(model.InvalidInput, "", "the certificate cannot be used: %v", err)
		}
		certificate = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	if l, err = net.Listen("tcp", LocalAddress(address)); err != nil {
		return nil, "", model.Errorf(model.InvalidInput, "", "cannot listen: %v", err)
	}
	if certificate != nil {
		return tls.NewListener(l, certificate), "https", nil
	}
	if host, _, err := net.SplitHostPort(l.Addr().String()); err != nil || !net.ParseIP(host).IsLoopback() {
		_ = l.Close()
		return nil, "", model.Errorf(model.InvalidInput, "", "%s can be reached from other machines: tokens and memory would travel in clear; give --tls-cert and --tls-key", l.Addr())
	}
	return l, "http", nil
}

// ServeUntil serves until ctx ends, then lets calls in flight finish.
func ServeUntil(ctx context.Context, l net.Listener, h http.Handler) error {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	err := srv.Shutdown(grace)
	if serr := <-ended; !errors.Is(serr, http.ErrServerClosed) {
		err = errors.Join(err, serr)
	}
	return err
}
