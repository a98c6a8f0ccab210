// This file reads and checks the TLS files of servers and clients.

package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/nats-io/nats.go"
)

// TLS contains the paths of the PEM files for TLS. The zero TLS means no TLS.
type TLS struct {
	Cert, Key string // certificate and key of this process
	CA        string // authority that signed the peer's certificate
}

// Check returns the time when the certificate expires. It returns an error if the certificate is not valid now. If
// hosts are given, the certificate must be a server certificate for every host, and the authority in the file f.CA must
// have signed it.
func (f TLS) Check(hosts ...string) (expires time.Time, err error) {
	pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return expires, fmt.Errorf("certificate %s with key %s: %w", f.Cert, f.Key, err)
	}
	leaf := pair.Leaf
	if now := time.Now(); now.After(leaf.NotAfter) || now.Before(leaf.NotBefore) {
		err = x509.CertificateInvalidError{
			Cert:   leaf,
			Reason: x509.Expired,
			Detail: fmt.Sprintf(
				"it is valid from %s to %s",
				leaf.NotBefore.Format(time.RFC3339),
				leaf.NotAfter.Format(time.RFC3339),
			),
		}
	} else if len(hosts) > 0 {
		err = f.checkServerCertificate(pair, hosts)
	}
	if err != nil {
		return expires, fmt.Errorf("certificate %s: %w", f.Cert, err)
	}
	return leaf.NotAfter, nil
}

// checkServerCertificate returns an error if another server would refuse the certificate. The certificate must also be
// valid for clients, because servers connect to each other as clients.
func (f TLS) checkServerCertificate(certificate tls.Certificate, hosts []string) (err error) {
	chain := x509.VerifyOptions{Intermediates: x509.NewCertPool()}
	chain.Roots, err = f.rootPool()
	if err != nil {
		return err
	}
	for _, der := range certificate.Certificate[1:] {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return err
		}
		chain.Intermediates.AddCert(c)
	}
	for _, u := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		chain.KeyUsages = []x509.ExtKeyUsage{u}
		if _, err := certificate.Leaf.Verify(chain); err != nil {
			return err
		}
	}
	for _, h := range hosts {
		if err := certificate.Leaf.VerifyHostname(h); err != nil && !isUnspecified(h) {
			return err
		}
	}
	return nil
}

// rootPool returns the authorities for checking the peer's certificate, or nil for the system's
// authorities.
func (f TLS) rootPool() (*x509.CertPool, error) {
	if f.CA == "" {
		return nil, nil
	}
	b, err := os.ReadFile(f.CA)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(b) {
		return nil, fmt.Errorf("%s has no certificate", f.CA)
	}
	return pool, nil
}

// isUnspecified reports whether a host stands for all addresses of this machine.
func isUnspecified(host string) bool { return host == "" || net.ParseIP(host).IsUnspecified() }

// Config returns the configuration of a client that connects to host.
func (f TLS) Config(host string) (*tls.Config, error) {
	c := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if f.Cert != "" {
		pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	var err error
	c.RootCAs, err = f.rootPool()
	return c, err
}

// Options returns the options of a client that uses the certificate in f.Cert and f.Key, and trusts the authority in
// f.CA. Each of these fields is the name of a file. The files are read again for each connection. An empty name adds no
// option.
func (f TLS) Options() (opts []nats.Option) {
	if f.Cert != "" {
		opts = append(opts, nats.ClientCert(f.Cert, f.Key))
	}
	if f.CA != "" {
		opts = append(opts, nats.RootCAs(f.CA))
	}
	return opts
}

// ClientOptions returns the options of a client in the server's own process.
func (s *Server) ClientOptions() []nats.Option {
	opts := s.options.TLS.Options()
	host, _, _ := net.SplitHostPort(s.options.Listen)
	if opts == nil || !isUnspecified(host) {
		return opts
	}
	// The client connects to an address that the certificate may not contain. Make the client check the certificate for
	// a name or an address that it contains.
	return append(opts, func(o *nats.Options) error {
		pair, err := o.TLSCertCB()
		if err != nil {
			return err
		}
		for _, ip := range pair.Leaf.IPAddresses {
			o.TLSConfig.ServerName = ip.String()
		}
		for _, name := range pair.Leaf.DNSNames {
			o.TLSConfig.ServerName = name
		}
		return nil
	})
}

// configText returns the TLS part of the configuration file. With this configuration, the server requires certificates
// from clients. If no TLS files are set, configText returns "".
func (f TLS) configText() string {
	if f == (TLS{}) {
		return ""
	}
	return fmt.Sprintf(
		"tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true, timeout: 5 }\n",
		f.Cert,
		f.Key,
		f.CA,
	)
}

// checkTLS returns an error if only some of the files for the certificate, its key and its authority are set. It also
// returns an error if another server would refuse the certificate. Without these files, it checks nothing.
func (o *Options) checkTLS() error {
	if o.TLS == (TLS{}) {
		return nil
	}
	hasAll := o.TLS.Cert != "" && o.TLS.Key != "" && o.TLS.CA != ""
	if !hasAll {
		return errors.New("of the certificate, its key and its authority one is missing")
	}
	var hosts []string
	for _, addr := range []string{o.Listen, o.Cluster} {
		if addr == "" {
			continue
		}
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return err
		}
		hosts = append(hosts, host)
	}
	_, err := o.TLS.Check(hosts...)
	return err
}

// Reload reads the TLS files again, for new connections. If a file is not valid, Reload changes
// nothing.
func (s *Server) Reload() error {
	opts, err := s.options.natsOptions()
	if err == nil {
		err = s.natsServer.ReloadOptions(opts)
	}
	if err != nil {
		return fmt.Errorf("reload server %s: %w", s.options.Name, err)
	}
	return nil
}
