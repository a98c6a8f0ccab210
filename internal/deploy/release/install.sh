#!/bin/sh
# Installs oxbow for one user: downloads the archive for this machine, verifies its checksum and unpacks it.
# OXBOW_INSTALL_DIR is the directory for the program (~/.local/bin). OXBOW_BASE_URL is the address of the files.
# The program is either installed completely, or nothing is changed.
set -eu

version='@VERSION@'
base=${OXBOW_BASE_URL:-https://github.com/oxbow-memory/oxbow/releases/download/v$version}
dir=${OXBOW_INSTALL_DIR:-${HOME:?is not set; set OXBOW_INSTALL_DIR to a directory}/.local/bin}

fail() {
	echo "install.sh: $1; nothing was installed" >&2
	exit 1
}

case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) fail "there is no archive for $(uname -s) (see docs/install.md)" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "there is no archive for $(uname -m) (see docs/install.md)" ;;
esac
archive=oxbow_${version}_${os}_$arch.tar.gz

tmp=$(mktemp -d)
new=
trap 'rm -rf "$tmp" ${new:+"$new"}' EXIT
trap 'exit 130' HUP INT TERM

download() {
	if command -v curl >/dev/null; then
		curl -fsSL -o "$tmp/$1" "$base/$1"
	elif command -v wget >/dev/null; then
		wget -q -O "$tmp/$1" "$base/$1"
	else
		fail "it needs curl or wget"
	fi || fail "$base/$1 cannot be downloaded"
}
download checksums.txt
download "$archive"

want=$(awk -v name="$archive" '$2 == name { print $1 }' "$tmp/checksums.txt")
[ -n "$want" ] || fail "checksums.txt does not list $archive"
if command -v sha256sum >/dev/null; then
	got=$(sha256sum "$tmp/$archive")
else
	got=$(shasum -a 256 "$tmp/$archive")
fi
[ "${got%% *}" = "$want" ] || fail "the checksum of $archive is ${got%% *}, not $want"

tar -xzf "$tmp/$archive" -C "$tmp" oxbow || fail "$archive has no program"
another='set OXBOW_INSTALL_DIR to a directory that you may write to'
mkdir -p "$dir" || fail "$dir cannot be made; $another"
[ ! -d "$dir/oxbow" ] || fail "$dir/oxbow is a directory; $another"
# Rename the program into its place, so that a running oxbow is not changed.
new=$dir/.oxbow.new.$$
cp "$tmp/oxbow" "$new" && chmod 755 "$new" || fail "$dir cannot be written; $another"
mv -f "$new" "$dir/oxbow" || fail "$dir/oxbow cannot be replaced; $another"
new=

echo "installed $dir/oxbow"
program=$dir/oxbow
case $program in
*[!A-Za-z0-9_./~+-]*) program="'$(printf %s "$program" | sed "s/'/'\\\\''/g")'" ;;
esac
found=$(command -v oxbow || true)
case :$PATH: in
*:"$dir":*)
	if [ "$found" = "$dir/oxbow" ]; then
		program=oxbow
	else
		echo "note: the command oxbow is another program, $found, because its directory is earlier in PATH" >&2
	fi
	;;
esac
echo "next: $program demo"
