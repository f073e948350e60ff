#!/usr/bin/env bash
# Authen::SCRAM of Perl as the server of SCRAM-SHA-256 and SCRAM-SHA-1: it makes and checks every message, scram.mjs puts them into
# HTTP (RFC 7804).
source "$(dirname "$0")/lib.sh"
install libauthen-scram-perl
free_port

cat >"$DIR/server.pl" <<'PL'
use strict;
use warnings;
use Authen::SCRAM::Server;
use Digest::SHA qw(hmac_sha1 hmac_sha256 sha1 sha256);
use Encode qw(decode encode);
use MIME::Base64;
use PBKDF2::Tiny qw(derive);

$| = 1;
my ($mechanism, $user, $password) = map { decode('UTF-8', $_) } @ARGV;
my ($digest) = $mechanism =~ /^SCRAM-(SHA-\d+)$/ or die;
my ($hmac, $hash) = $digest eq 'SHA-1' ? (\&hmac_sha1, \&sha1) : (\&hmac_sha256, \&sha256);
my ($salt, $rounds) = ('salt of the peer', 4096);
my $salted = derive($digest, encode('UTF-8', $password), $salt, $rounds);

my $server = Authen::SCRAM::Server->new(
  digest => $digest,
  credential_cb => sub {
    return unless $_[0] eq $user;
    return ($salt, $hash->($hmac->('Client Key', $salted)), $hmac->('Server Key', $salted), $rounds);
  },
);
my $next = 'first_msg';
while (my $line = <STDIN>) {
  print encode_base64(encode('UTF-8', $server->$next(decode('UTF-8', decode_base64($line)))), ''), "\n";
  $next = 'final_msg';
}
PL

launch scram node "$(dirname "$0")/scram.mjs" "$PORT" scram@peer 'hello from authen-scram' perl "$DIR/server.pl" MECHANISM 'Jäsøn' 'Öffne dich'
await "$PORT"
printf '{"url":"http://127.0.0.1:%s","username":"Jäsøn","password":"Öffne dich","content":"hello from authen-scram"}\n' "$PORT" | tee "$DIR/peer.json"
