package cli

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"memdesk/backends"
	"memdesk/internal/atomicfile"
	"memdesk/internal/bearer"
	"memdesk/internal/privatefile"
	"memdesk/internal/statedir"
	"memdesk/model"
	"memdesk/operator"
)

// providerFlags are the flags of serve provider.
type providerFlags struct {
	listen, tokens, cert, key string
}

func (a *app) serveProviderCommand() *cobra.Command {
	var f providerFlags
	c := &cobra.Command{
		Use: "provider", Short: "Serve one store's Provider contract over HTTP",
		Long: "Serves the store that --store names to agents, as JSON over HTTP with bearer tokens: the four calls of the\n" +
			"contract and the reads that the store has (backends/remote/openapi.json describes them). What an agent changes\n" +
			"stands in the audit log under the name of its token.\n" +
			"Tokens are lines \"NAME TOKEN\" of a file that only its owner may read; it is read again when it changes.\n" +
			"Without --tokens one is made in the state directory. An address that other machines can reach needs --tls-cert and --tls-key.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serveProvider(cmd.Context(), f) },
	}
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:7811", "`ADDRESS` to listen on; without a host it is this machine only")
	c.Flags().StringVar(&f.tokens, "tokens", "", "`FILE` of the tokens that are let in")
	c.Flags().StringVar(&f.cert, "tls-cert", "", "certificate `FILE`, PEM")
	c.Flags().StringVar(&f.key, "tls-key", "", "private key `FILE` of the certificate, PEM")
	return c
}

func (a *app) serveProvider(ctx context.Context, f providerFlags) error {
	s, err := a.stores(ctx)
	if err != nil {
		return err
	}
	members := s.Fleet.Members()
	if len(members) != 1 {
		return usage("there are %d stores: name the one to serve with --store", len(members))
	}
	if _, err := a.openStore(members[0].Name); err != nil {
		return err
	}
	g, n, err := a.guestsOf(ctx, s, f.tokens)
	if err != nil {
		return err
	}
	defer g.close()
	l, scheme, err := a.listener(f)
	if err != nil {
		return err
	}
	defer l.Close() // Serve closes it; here for the ways out before
	a.sayf("serving store %s on %s://%s to %s from %s", members[0].Name, scheme, l.Addr(), plural(int64(n), "token"), g.file)
	defer g.count(ctx, s)()
	g.watch(ctx)
	return a.listenUntil(ctx, l, g.provider(members[0].Name))
}

// provider is the Provider contract of one store, for all guests.
func (g *guests) provider(store string) http.Handler {
	return backends.Serve(backends.Served{Door: g.door, Called: g.called,
		Store: func(c backends.Caller) model.Store {
			s, err := g.session(c.Name).Fleet.Store(store)
			if err != nil { // it could not be opened for this guest: its calls say why
				return model.Store{Name: store, Provider: gone{err}}
			}
			return s
		},
		Refused: func(ctx context.Context, c backends.Caller, scope string) {
			g.session(c.Name).Refused(ctx, bearer.Verb(scope), scope)
		}})
}

// maxPEM is the largest certificate or key file, in bytes.
const maxPEM = 1 << 20

// certificate reads a certificate and its key, which only its owner may read.
func (a *app) certificate(cert, key string) (tls.Certificate, error) {
	certPEM, err := privatefile.Read(backends.ExpandPath(cert, a.Dir, a.Env), privatefile.Unwritable, maxPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	keyPEM, err := privatefile.Read(backends.ExpandPath(key, a.Dir, a.Env), privatefile.Unreadable, maxPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(certPEM, keyPEM)
}

// listenUntil serves until the context ends, then lets calls in flight finish.
func (a *app) listenUntil(ctx context.Context, l net.Listener, h http.Handler) error {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	defer a.running(ctx)()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := srv.Shutdown(grace)
	if serr := <-ended; !errors.Is(serr, http.ErrServerClosed) {
		err = errors.Join(err, serr)
	}
	return err
}

// tokensFile is the file of the tokens; without one it makes the first token.
func (a *app) tokensFile(s *operator.Session, file string) (string, error) {
	if file != "" {
		return backends.ExpandPath(file, a.Dir, a.Env), nil
	}
	if s.State == "" {
		return "", usage("%v; give --tokens FILE", statedir.ErrNoHome)
	}
	if err := statedir.Ensure(s.State); err != nil {
		return "", err
	}
	file = filepath.Join(s.State, "serve", "tokens")
	if _, err := os.Lstat(file); errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return "", err
		}
		if err := atomicfile.Write(file, []byte("agent "+rand.Text()+rand.Text()+"\n"), 0o600); err != nil {
			return "", err
		}
		a.sayf("made a token for \"agent\" in %s", file)
	}
	return file, nil
}

// readTokens is bearer.ReadTokens with the exit code of a wrong setting.
func readTokens(file string) ([]backends.Caller, error) {
	out, err := bearer.ReadTokens(file)
	if err != nil {
		return nil, usage("%v", err)
	}
	return out, nil
}
