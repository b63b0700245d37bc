//! Which addresses are public. Knows nothing of names.
//!
//! | refused | because it is |
//! |---|---|
//! | `0.0.0.0/8`, `::` | this host |
//! | `10/8`, `172.16/12`, `192.168/16`, `fc00::/7`, `fec0::/10` | private |
//! | `100.64/10` | shared by a provider's customers |
//! | `127/8`, `::1` | loopback |
//! | `169.254/16`, `fe80::/10` | link-local: a cloud's metadata |
//! | `192.0.0/24`, `192.0.2/24`, `192.88.99/24`, `198.18/15`, `198.51.100/24`, `203.0.113/24`, `2001::/23`, `2001:db8::/32`, `3fff::/20` | set aside |
//! | `224/4`, `240/4`, `ff00::/8` | multicast, reserved, broadcast |
//! | `::ffff:…`, `64:ff9b::/96`, `2002::/16` with one of the above inside | a detour to it |
//! | all IPv6 outside of `2000::/3` | not given out |
//!
//! Source: the IANA special-purpose address registries (RFC 6890 and what updated it).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;

/// Whether an address is one that anybody on the internet may be sent to.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// The address that a URL's host is, where it is one and no name.
pub(super) fn literal(url: &Url) -> Option<IpAddr> {
    // The one parser reads `0x7f.1`, `2130706433` and `[::ffff:7f00:1]` for what they are.
    let host = url.host_str()?.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    host.parse().ok()
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    const REFUSED: [(u32, u32); 15] = [
        (0x0000_0000, 8),
        (0x0A00_0000, 8),
        (0x6440_0000, 10),
        (0x7F00_0000, 8),
        (0xA9FE_0000, 16),
        (0xAC10_0000, 12),
        (0xC000_0000, 24),
        (0xC000_0200, 24),
        (0xC058_6300, 24),
        (0xC0A8_0000, 16),
        (0xC612_0000, 15),
        (0xC633_6400, 24),
        (0xCB00_7100, 24),
        (0xE000_0000, 4),
        (0xF000_0000, 4),
    ];
    let bits = address.to_bits();
    !REFUSED.iter().any(|(network, length)| (bits ^ network) >> (32 - length) == 0)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, third, ..] = address.segments();
    let low = address.to_bits() as u32;
    if let Some(inside) = address.to_ipv4_mapped() {
        return is_public_v4(inside);
    }
    // RFC 6052: a translator takes these to IPv4.
    if address.segments()[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
        return is_public_v4(Ipv4Addr::from_bits(low));
    }
    // RFC 3056: 6to4.
    if first == 0x2002 {
        return is_public_v4(Ipv4Addr::from_bits((u32::from(second) << 16) | u32::from(third)));
    }
    let given_out = (0x2000..0x4000).contains(&first);
    let set_aside = (first == 0x2001 && (second < 0x200 || second == 0xdb8)) || (first == 0x3fff && second < 0x1000);
    given_out && !set_aside
}
