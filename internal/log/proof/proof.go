// Package proof signs hashes over the changes of a log, which are called heads, so that readers notice if
// somebody without the signing key cut off, edited or replaced the log. It only reads and
// writes lines of text and does not access the log.
//
// A key file is a text file with comments (#) and a line with the key. A comment names the
// public key. The line has this prefix and the seed of an Ed25519 key (RFC 8032) in hex:
//
//	OXBOW-SIGNING-KEY-9d61b19d…
//
// Signed heads are stored in a text file to which lines are appended:
//
//	head 512 CHAIN TIME KEY SIGNATURE
//	back 400 CHAIN TIME KEY SIGNATURE
//
// "head" states that the log had this chain at this change. "back" states that the owner
// went back to this change, so that earlier lines about later changes are void. CHAIN has
// 64 hexadecimal digits, TIME is in RFC 3339 format in UTC, and KEY is the public key in
// hex. SIGNATURE, in base64 without padding, signs "oxbow signed head 1\n" followed by the
// line up to, but excluding, the space before the signature.
package proof

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// The kinds of heads.
const (
	Grown = "head"
	Back  = "back"
)

// A Head is a signed statement about the log.
type Head struct {
	Kind  string
	Seq   uint64
	Chain string // 64 hexadecimal digits
	Time  time.Time
	Key   string // public key of the signer in hex
}

// A Key signs heads.
type Key struct{ private ed25519.PrivateKey }

// Public returns the public key in hex.
func (k Key) Public() string {
	return hex.EncodeToString(k.private.Public().(ed25519.PublicKey))
}

const secretStart = "OXBOW-SIGNING-KEY-"

// NewKey generates a key.
func NewKey(rand io.Reader) (Key, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(rand, seed); err != nil {
		return Key{}, fmt.Errorf("making a key: %w", err)
	}
	return Key{ed25519.NewKeyFromSeed(seed)}, nil
}

// Encode returns the content of a key file.
func (k Key) Encode() []byte {
	return fmt.Appendf(
		nil,
		"# The key with which oxbow signs the heads of this memory: for you alone.\n# public key: %s\n%s%x\n",
		k.Public(), secretStart, k.private.Seed(),
	)
}

// ParseKey parses the content of a key file.
func ParseKey(text []byte) (Key, error) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if digits, ok := strings.CutPrefix(line, secretStart); ok {
			seed, err := hex.DecodeString(digits)
			if err != nil || len(seed) != ed25519.SeedSize {
				break
			}
			return Key{ed25519.NewKeyFromSeed(seed)}, nil
		}
	}
	return Key{}, errors.New("it holds no key with which oxbow signs")
}

// fields is the number of fields in a line.
const fields = 6

// signedMessage returns the message that is signed for a line.
func signedMessage(line string) []byte { return []byte("oxbow signed head 1\n" + line) }

// Sign returns the signed line of a head, including its line end.
func (k Key) Sign(h Head) []byte {
	line := fmt.Sprintf("%s %d %s %s %s", h.Kind, h.Seq, h.Chain, h.Time.UTC().Format(time.RFC3339), k.Public())
	signature := ed25519.Sign(k.private, signedMessage(line))
	return []byte(line + " " + base64.RawURLEncoding.EncodeToString(signature) + "\n")
}

// parse parses a line without its line end. ok is false if the signature is invalid for
// the line's key.
func parse(line string) (h Head, ok bool) {
	w := strings.Split(line, " ")
	if len(w) != fields {
		return Head{}, false
	}
	h = Head{Kind: w[0], Chain: w[2], Key: w[4]}
	var errs [5]error
	h.Seq, errs[0] = strconv.ParseUint(w[1], 10, 64)
	h.Time, errs[1] = time.Parse(time.RFC3339, w[3])
	chain, err := hex.DecodeString(h.Chain)
	errs[2] = err
	key, err := hex.DecodeString(h.Key)
	errs[3] = err
	sig, err := base64.RawURLEncoding.DecodeString(w[5])
	errs[4] = err
	if errors.Join(errs[:]...) != nil {
		return Head{}, false
	}
	if len(chain) != 32 || len(key) != ed25519.PublicKeySize {
		return Head{}, false
	}
	if h.Kind != Grown && h.Kind != Back {
		return Head{}, false
	}
	return h, ed25519.Verify(key, signedMessage(strings.Join(w[:fields-1], " ")), sig)
}

// ReadHeads parses a file of signed heads. It returns the heads that the public key has signed
// and that are not void, and the numbers of the lines without a valid head signed by this
// key. A last line without a line end was left by an interrupted write and is ignored.
func ReadHeads(text []byte, public string) (heads []Head, bad []int) {
	for n := 1; ; n++ {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			return heads, bad
		}
		text = rest
		h, ok := parse(string(line))
		if !ok || h.Key != public {
			bad = append(bad, n)
			continue
		}
		if h.Kind == Back {
			kept := heads[:0]
			for _, earlier := range heads {
				if earlier.Seq <= h.Seq {
					kept = append(kept, earlier)
				}
			}
			heads = kept
		}
		heads = append(heads, h)
	}
}

// Last returns the change number of the last head, whoever signed it, and the end offset of
// the last complete line. The rest was left by an interrupted write.
func Last(text []byte) (seq uint64, end int) {
	end = bytes.LastIndexByte(text, '\n') + 1
	lines := strings.Split(string(text[:end]), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if h, ok := parse(lines[i]); ok {
			return h.Seq, end
		}
	}
	return 0, end
}
