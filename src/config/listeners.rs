//! `listeners`, `advertised.listeners` and what belongs to them, with Kafka's checks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::broker::{Listener, Protocol, Roles};
use super::error::Problem;
use super::values::Values;

/// Where the broker listens, and what it says about that.
#[derive(Clone, Debug)]
pub(super) struct Endpoints {
    pub listeners: Vec<Listener>,
    pub controller_listeners: Vec<Listener>,
    pub advertised: Vec<Listener>,
    pub controller_names: Vec<String>,
    pub inter_broker: String,
}

type Map = Vec<(String, Protocol)>;

/// Resolves the listeners. A file of older days has no controller listener: the one process needs none.
pub(super) fn resolve(values: &Values, roles: Roles, old_file: bool) -> Result<Endpoints, Problem> {
    let controller_names: Vec<String> =
        values.list("controller.listener.names")?.iter().map(|name| name.to_ascii_uppercase()).collect();
    let map = protocol_map(values, &controller_names)?;
    let written = values.list("listeners")?;
    let all = parse(written, &map)?;
    unique(&all, written, true)?;
    let (controller_listeners, listeners): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|listener| controller_names.contains(&listener.name));
    let is_controller = |name: &String| controller_names.contains(name);
    if roles.controller && !old_file && controller_listeners.is_empty() {
        return Err(Problem::Conflict(
            "controller.listener.names must contain at least one value appearing in the 'listeners' \
             configuration when running the KRaft controller role"
                .to_owned(),
        ));
    }
    if !roles.controller && !controller_listeners.is_empty() {
        return Err(Problem::Conflict(
            "controller.listener.names must not contain a value appearing in the 'listeners' configuration when \
             running KRaft with just the broker role"
                .to_owned(),
        ));
    }
    if !roles.broker && !listeners.is_empty() {
        return Err(Problem::Conflict(
            "The listeners config must only contain KRaft controller listeners from controller.listener.names when \
             process.roles=controller"
                .to_owned(),
        ));
    }
    let mut advertised = match values.list("advertised.listeners")? {
        [] => listeners.clone(),
        written => {
            let advertised = parse(written, &map)?;
            unique(&advertised, written, false)?;
            advertised.into_iter().filter(|listener| !is_controller(&listener.name)).collect()
        }
    };
    for listener in listeners.iter().chain(&advertised) {
        if listener.protocol != Protocol::Plaintext {
            return Err(Problem::Conflict(format!(
                "listeners: {}: {} listeners are not supported yet, and the broker would be open where it should be \
                 closed; it does not start",
                listener.name,
                listener.protocol.name()
            )));
        }
    }
    if roles.broker {
        check_advertised(&advertised, &listeners)?;
    }
    for listener in advertised.iter_mut().filter(|listener| listener.host.is_empty()) {
        listener.host = own_host();
    }
    let inter_broker = inter_broker(values, &map)?;
    if roles.broker && !advertised.iter().any(|listener| listener.name == inter_broker) {
        let names: Vec<_> = advertised.iter().map(|listener| listener.name.as_str()).collect();
        return Err(Problem::Conflict(format!(
            "inter.broker.listener.name must be a listener name defined in advertised.listeners. The valid options \
             based on currently configured listeners are {}",
            names.join(",")
        )));
    }
    Ok(Endpoints { listeners, controller_listeners, advertised, controller_names, inter_broker })
}

/// `listener.security.protocol.map`. Where it is at its default and no listener is secured, the controllers'
/// listeners are plain without being in it.
fn protocol_map(values: &Values, controller_names: &[String]) -> Result<Map, Problem> {
    let text = values.text("listener.security.protocol.map")?;
    let default =
        super::definition::broker_key("listener.security.protocol.map").map(|key| key.default_value());
    let is_default = default.and_then(|value| value.text()).as_deref() == Some(text);
    let mut map = Map::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let Some((name, protocol)) = pair.rsplit_once(':') else {
            return Err(Problem::Conflict(format!(
                "listener.security.protocol.map: expected name:protocol, not {pair}"
            )));
        };
        let Some(known) = Protocol::from_name(protocol.trim()) else {
            return Err(Problem::Conflict(format!(
                "Invalid security protocol `{protocol}` defined in listener.security.protocol.map"
            )));
        };
        map.push((name.trim().to_ascii_uppercase(), known));
    }
    let secured = |text: &String| {
        let name = text.split(':').next().unwrap_or_default().to_ascii_uppercase();
        map.iter().any(|(known, protocol)| *known == name && *protocol != Protocol::Plaintext)
    };
    if is_default && !values.list("listeners")?.iter().any(secured) {
        for name in controller_names {
            if !map.iter().any(|(known, _)| known == name) {
                map.push((name.clone(), Protocol::Plaintext));
            }
        }
    }
    Ok(map)
}

fn parse(texts: &[String], map: &Map) -> Result<Vec<Listener>, Problem> {
    let fail = |why: String| {
        Problem::Conflict(format!("Error creating broker listeners from '[{}]': {why}", texts.join(", ")))
    };
    let mut listeners = Vec::new();
    for text in texts {
        let Some((name, host, port)) = cut(text) else {
            return Err(fail(format!("Unable to parse {text} to a broker endpoint")));
        };
        let Some((_, protocol)) = map.iter().find(|(known, _)| *known == name) else {
            return Err(fail(format!("No security protocol defined for listener {name}")));
        };
        listeners.push(Listener { name, host, port, protocol: *protocol });
    }
    Ok(listeners)
}

/// What clients are told where the listener names no host: this machine's name. It is not looked up, as that may
/// take as long as a name server likes.
fn own_host() -> String {
    match rustix::system::uname().nodename().to_str() {
        Ok(name) if !name.is_empty() && name != "(none)" => name.to_owned(),
        _ => "localhost".to_owned(),
    }
}

/// `NAME://host:port`, `NAME://[v6]:port` or `NAME://:port`.
fn cut(text: &str) -> Option<(String, String, u16)> {
    let (name, address) = text.split_once("://")?;
    let (host, port) = address.rsplit_once(':')?;
    let host = match host.strip_prefix('[') {
        Some(v6) => v6.strip_suffix(']')?,
        // Kafka lets an address of version 6 stand without brackets.
        None => host,
    };
    Some((name.trim().to_ascii_uppercase(), host.to_owned(), port.parse().ok()?))
}

fn unique(listeners: &[Listener], texts: &[String], ports_too: bool) -> Result<(), Problem> {
    let all = format!("[{}]", texts.join(", "));
    let fail = |why: String| {
        Err(Problem::Conflict(format!(
            "Error creating broker listeners from '{all}': {why}, listeners: {all}"
        )))
    };
    for (at, listener) in listeners.iter().enumerate() {
        for other in listeners.iter().skip(at.saturating_add(1)) {
            if other.name == listener.name {
                return fail("Each listener must have a different name".to_owned());
            }
            if ports_too && other.port == listener.port && listener.port != 0 {
                match (listener.host.parse::<IpAddr>(), other.host.parse::<IpAddr>()) {
                    (Ok(one), Ok(two)) if one.is_ipv4() != two.is_ipv4() => {}
                    (Ok(_), Ok(_)) => {
                        return fail(format!(
                            "If you have two listeners on the same port then one needs to be IPv4 and the other IPv6 \
                             (port {})",
                            listener.port
                        ));
                    }
                    _ => return fail("Each listener must have a different port".to_owned()),
                }
            }
        }
    }
    Ok(())
}

fn check_advertised(advertised: &[Listener], listeners: &[Listener]) -> Result<(), Problem> {
    if advertised.is_empty() || listeners.is_empty() {
        return Err(Problem::Conflict(
            "There must be at least one broker advertised listener. Perhaps all listeners appear in \
             controller.listener.names?"
                .to_owned(),
        ));
    }
    for listener in advertised {
        let everywhere = match listener.host.parse::<IpAddr>() {
            Ok(IpAddr::V4(address)) => address == Ipv4Addr::UNSPECIFIED,
            Ok(IpAddr::V6(address)) => address == Ipv6Addr::UNSPECIFIED,
            Err(_) => false,
        };
        if everywhere {
            return Err(Problem::Conflict(format!(
                "advertised.listeners cannot use the nonroutable meta-address {}. Use a routable IP address.",
                listener.host
            )));
        }
        if !listeners.iter().any(|known| known.name == listener.name) {
            let names: Vec<_> = listeners.iter().map(|known| known.name.as_str()).collect();
            return Err(Problem::Conflict(format!(
                "advertised.listeners listener names must be equal to or a subset of the ones defined in listeners. \
                 Found {}. The valid options based on the current configuration are {}",
                listener.name,
                names.join(",")
            )));
        }
    }
    Ok(())
}

fn inter_broker(values: &Values, map: &Map) -> Result<String, Problem> {
    match values.optional_text("inter.broker.listener.name")? {
        Some(name) => {
            let name = name.to_ascii_uppercase();
            if map.iter().any(|(known, _)| *known == name) {
                return Ok(name);
            }
            Err(Problem::Conflict(format!(
                "Listener with name {name} defined in inter.broker.listener.name not found in \
                 listener.security.protocol.map."
            )))
        }
        None => Ok(values.text("security.inter.broker.protocol")?.to_owned()),
    }
}

impl Protocol {
    /// Its number in broker registrations.
    pub fn code(self) -> i16 {
        match self {
            Protocol::Plaintext => 0,
            Protocol::Ssl => 1,
            Protocol::SaslPlaintext => 2,
            Protocol::SaslSsl => 3,
        }
    }

    /// Kafka's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Plaintext => "PLAINTEXT",
            Protocol::Ssl => "SSL",
            Protocol::SaslPlaintext => "SASL_PLAINTEXT",
            Protocol::SaslSsl => "SASL_SSL",
        }
    }

    /// The protocol of this name.
    pub fn from_name(name: &str) -> Option<Protocol> {
        match name.to_ascii_uppercase().as_str() {
            "PLAINTEXT" => Some(Protocol::Plaintext),
            "SSL" => Some(Protocol::Ssl),
            "SASL_PLAINTEXT" => Some(Protocol::SaslPlaintext),
            "SASL_SSL" => Some(Protocol::SaslSsl),
            _ => None,
        }
    }
}
