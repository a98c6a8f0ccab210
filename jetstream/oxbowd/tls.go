// This file checks TLS certificates. It determines why a certificate is rejected, how long a certificate is valid, and
// when a certificate must be loaded again.

package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/jetstream/server"
)

// addTLSAdvice adds advice for the user to an error that reports a rejected certificate. It returns all other errors
// unchanged.
func addTLSAdvice(err error) error {
	var invalid x509.CertificateInvalidError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired, err != nil &&
		strings.Contains(err.Error(), "expired certificate"):
		return verb.Advise(err, "have the authority sign another one, and see whether the clocks are right")
	case errors.As(err, &host):
		return verb.Advise(
			err,
			"a certificate must have each address by which its server is called: subjectAltName = IP:10.0.0.1, DNS:n1",
		)
	case errors.As(err, &unknown), errors.As(err, &invalid), isTLSRefusal(err), errors.Is(err, nats.ErrTLS):
		return verb.Advise(
			err,
			"one authority signs the certificates of all servers and programs: its own is --nats-ca, and --nats-cert "+
				"is one that it signed",
		)
	}
	return err
}

// isTLSRefusal reports whether an error means that the client rejected the server's certificate, or that the server
// rejected the client's certificate.
func isTLSRefusal(err error) bool {
	v, alert := (*tls.CertificateVerificationError)(nil), (*net.OpError)(nil)
	return errors.As(err, &v) || (errors.As(err, &alert) && alert.Op == "remote error")
}

// findClientCertRejection connects to each server in the list urls, and returns the first error with which a server
// rejects the client's certificate. It returns nil if no server rejects the certificate.
//
// After the TLS connection is made, findClientCertRejection sends no data and only reads. The reason is that a client
// in TLS 1.3 can send data before the server has checked the certificate. If the server then rejects the certificate,
// the connection breaks during the sending, and the client does not receive the error.
func findClientCertRejection(urls string, tlsFiles server.TLS) error {
	for u := range strings.SplitSeq(urls, ",") {
		if err := readTLSRefusal(u, tlsFiles); err != nil && isTLSRefusal(err) {
			return err
		}
	}
	return nil
}

// maxCertRefusalWait is the maximum time to wait for the reaction of a server to the client's certificate.
const maxCertRefusalWait = 5 * time.Second

func readTLSRefusal(serverURL string, tlsFiles server.TLS) error {
	addr := serverURL[strings.LastIndexAny(serverURL, "/@ ")+1:]
	c, err := net.DialTimeout("tcp", addr, maxCertRefusalWait)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(maxCertRefusalWait))
	// Read the server's INFO line, which is not encrypted.
	if _, err := bufio.NewReader(c).ReadString('\n'); err != nil {
		return err
	}
	host, _, _ := net.SplitHostPort(addr)
	config, err := tlsFiles.Config(host)
	if err != nil {
		return err
	}
	_, err = tls.Client(c, config).Read(make([]byte, 1))
	return err
}

// unreachableServersText connects to each address in peers, and returns a text with the results, such as ";
// 10.0.0.2:6222 does not answer".
func (b *clusterMemories) unreachableServersText(peers []string) string {
	var s strings.Builder
	for _, p := range peers {
		fmt.Fprintf(&s, "; %s %s", p, b.describeServerAnswer(p))
	}
	return s.String()
}

// describeServerAnswer connects to a server and returns a text that says whether and how the server has answered.
func (b *clusterMemories) describeServerAnswer(addr string) string {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return "does not answer"
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	if b.tlsFiles == (server.TLS{}) {
		if _, err := c.Read(make([]byte, 1)); err != nil {
			return "says nothing in the clear: does it want --nats-cert, --nats-key and --nats-ca?"
		}
	} else {
		host, _, _ := net.SplitHostPort(addr)
		config, err := b.tlsFiles.Config(host)
		if err == nil {
			// Read a byte, because the server reports only then whether it accepts this side's certificate.
			_, err = tls.Client(c, config).Read(make([]byte, 1))
		}
		if plain := (tls.RecordHeaderError{}); errors.As(err, &plain) {
			return "speaks no TLS: was it started without --nats-cert?"
		}
		if err != nil && isTLSRefusal(err) {
			return "does not fit: " + err.Error()
		}
	}
	return "answers: is the secret the same there?"
}

// expiryNoticeTime is the time before the expiry of a certificate at which the notices begin.
const expiryNoticeTime = 14 * 24 * time.Hour

// watchCertificate prints a notice if the certificate expires soon. If this process runs a server, the server loads the
// certificate again after each SIGHUP. If no certificate is used, watchCertificate does nothing.
func (b *clusterMemories) watchCertificate(tell func(format string, args ...any)) {
	if b.tlsFiles.Cert == "" {
		return
	}
	b.printCertificateExpiry(tell)
	b.reloadSignals = make(chan os.Signal, 1)
	signal.Notify(b.reloadSignals, syscall.SIGHUP)
	go func() {
		for range b.reloadSignals {
			var err error
			if b.server != nil {
				err = b.server.Reload()
			}
			if err != nil {
				tell("%v; those of before stay", err)
				continue
			}
			tell("the certificates were read again")
			b.printCertificateExpiry(tell)
		}
	}()
}

// printCertificateExpiry prints the expiry date of the certificate if the certificate expires within expiryNoticeTime.
func (b *clusterMemories) printCertificateExpiry(logf func(format string, args ...any)) {
	switch expires, err := b.tlsFiles.Check(); {
	case err != nil:
		logf("%v", err)
	case time.Until(expires) < expiryNoticeTime:
		logf(
			"certificate %s expires at %s; kill -HUP makes this process read another one",
			b.tlsFiles.Cert,
			expires.Format(time.RFC3339),
		)
	}
}
