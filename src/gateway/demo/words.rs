//! The tables the seed draws from: names, places, wares. Knows nothing of how they are combined.

/// First names.
pub(super) const FIRST: [&str; 40] = [
    "Maya", "Jonas", "Elif", "Aoife", "Mateo", "Ingrid", "Tomasz", "Chiara", "Bram", "Sofia", "Emil", "Noor", "Lucas",
    "Hanna", "Pedro", "Freya", "Anton", "Camille", "Oskar", "Zofia", "Liam", "Marta", "Niklas", "Amira", "Julien",
    "Saga", "Piotr", "Lotte", "Diego", "Nora", "Felix", "Greta", "Hugo", "Ida", "Rafael", "Tuva", "Stefan", "Elena",
    "Milan", "Yara",
];

/// Last names.
pub(super) const LAST: [&str; 40] = [
    "Lindqvist",
    "Berger",
    "Yilmaz",
    "Byrne",
    "Serrano",
    "Haugen",
    "Nowak",
    "Ferrari",
    "de Vries",
    "Costa",
    "Nyberg",
    "Haddad",
    "Moreau",
    "Virtanen",
    "Almeida",
    "Sandberg",
    "Keller",
    "Lefebvre",
    "Dahl",
    "Wójcik",
    "Murphy",
    "Vidal",
    "Holm",
    "Benali",
    "Girard",
    "Ekström",
    "Zielinski",
    "Jansen",
    "Navarro",
    "Solberg",
    "Hoffmann",
    "Weiss",
    "Laurent",
    "Madsen",
    "Pereira",
    "Nilsen",
    "Brunner",
    "Rossi",
    "Novák",
    "van Dijk",
];

/// Where a customer lives.
pub(super) struct Place {
    pub(super) city: &'static str,
    pub(super) country: &'static str,
    pub(super) street: &'static str,
    /// Every `#` becomes a digit.
    pub(super) postcode: &'static str,
    pub(super) phone: &'static str,
}

const fn place(
    city: &'static str,
    country: &'static str,
    street: &'static str,
    postcode: &'static str,
    phone: &'static str,
) -> Place {
    Place { city, country, street, postcode, phone }
}

/// Cities, each with a street and the shape of its numbers.
pub(super) const PLACES: [Place; 20] = [
    place("Gothenburg", "Sweden", "Vasagatan", "411 ##", "+46 70 555 ## ##"),
    place("Berlin", "Germany", "Kastanienallee", "104##", "+49 151 555 ####"),
    place("Copenhagen", "Denmark", "Nørrebrogade", "22##", "+45 55 55 ## ##"),
    place("Dublin", "Ireland", "Thomas Street", "D08 X###", "+353 85 555 ####"),
    place("Bilbao", "Spain", "Calle Ledesma", "480##", "+34 655 55 ## ##"),
    place("Bergen", "Norway", "Strandgaten", "50##", "+47 455 5# ###"),
    place("Kraków", "Poland", "ulica Długa", "31-1##", "+48 555 ### ###"),
    place("Bologna", "Italy", "Via Zamboni", "401##", "+39 320 555 ####"),
    place("Utrecht", "Netherlands", "Oudegracht", "35## AB", "+31 6 555 ## ###"),
    place("Porto", "Portugal", "Rua das Flores", "4050-2##", "+351 915 55# ###"),
    place("Malmö", "Sweden", "Södergatan", "211 ##", "+46 73 555 ## ##"),
    place("Munich", "Germany", "Lindwurmstraße", "803##", "+49 160 555 ####"),
    place("Lyon", "France", "Rue Mercière", "690##", "+33 6 55 55 ## ##"),
    place("Tampere", "Finland", "Hämeenkatu", "331##", "+358 40 555 ####"),
    place("Vienna", "Austria", "Neubaugasse", "10##", "+43 660 555 ####"),
    place("Stockholm", "Sweden", "Hornsgatan", "118 ##", "+46 76 555 ## ##"),
    place("Zurich", "Switzerland", "Badenerstrasse", "80##", "+41 78 555 ## ##"),
    place("Brno", "Czechia", "Veveří", "602 ##", "+420 755 5## ###"),
    place("Grenoble", "France", "Rue de Strasbourg", "380##", "+33 7 55 55 ## ##"),
    place("Oslo", "Norway", "Thorvald Meyers gate", "05##", "+47 955 5# ###"),
];

/// The wares: article number, title, price in cents.
pub(super) const WARES: [(&str, &str, i64); 44] = [
    ("TNT-TARN2", "Tarn 2 tent", 34900),
    ("TNT-TARN3", "Tarn 3 tent", 42900),
    ("TNT-FJELL1", "Fjell 1 solo tent", 27900),
    ("TNT-TARP", "Birch tarp 3 × 3 m", 11900),
    ("SLP-DOWN0", "Kestrel down sleeping bag, 0 °C", 28900),
    ("SLP-SYN5", "Heron synthetic sleeping bag, 5 °C", 12900),
    ("SLP-MATR", "Ridge insulated sleeping mat", 13900),
    ("SLP-MATF", "Folding foam mat", 3900),
    ("SLP-PILL", "Drift inflatable pillow", 2900),
    ("PCK-TRAIL28", "Trail 28 day pack", 10900),
    ("PCK-HAUL55", "Haul 55 trekking pack", 21900),
    ("PCK-HAUL70", "Haul 70 expedition pack", 25900),
    ("PCK-DUFF60", "Harbour 60 duffel", 12900),
    ("PCK-DRY20", "Dry bag, 20 litres", 2490),
    ("BOT-CAIRN", "Cairn leather boots", 23900),
    ("BOT-SCREE", "Scree light hiking boots", 16900),
    ("SHO-BURN", "Burn trail running shoes", 13900),
    ("SHO-CAMP", "Camp slippers with down", 5900),
    ("JKT-SQUALL", "Squall rain jacket", 18900),
    ("JKT-EMBER", "Ember down jacket", 22900),
    ("JKT-GALE", "Gale windshell", 9900),
    ("TRS-MOOR", "Moor hiking trousers", 9900),
    ("TRS-SQUALL", "Squall rain trousers", 11900),
    ("BAS-MERT", "Merino base layer top", 7900),
    ("BAS-MERB", "Merino base layer bottoms", 7500),
    ("FLC-LOCH", "Loch grid fleece", 8900),
    ("SCK-MER3", "Merino hiking socks, 3 pairs", 4500),
    ("HAT-WOOL", "Ribbed wool hat", 2900),
    ("GLV-LINE", "Liner gloves", 2490),
    ("GLV-STORM", "Storm mittens", 6900),
    ("STV-POCK", "Pocket gas stove", 4900),
    ("STV-WIND", "Windproof stove system", 13900),
    ("COK-TITN", "Titanium pot, 900 ml", 5900),
    ("COK-SPRK", "Long spoon", 1290),
    ("COK-MUG", "Enamel mug", 1490),
    ("BTL-INS1", "Insulated bottle, 1 litre", 3490),
    ("BTL-FILT", "Squeeze water filter", 4490),
    ("LMP-HEAD", "Beacon 400 head torch", 5490),
    ("LMP-LANT", "Folding camp lantern", 3490),
    ("NAV-COMP", "Sighting compass", 4990),
    ("NAV-CASE", "Waterproof map case", 1990),
    ("POL-CARB", "Carbon trekking poles, pair", 11900),
    ("KIT-AID", "Trail first-aid kit", 3290),
    ("KIT-REPR", "Field repair kit", 1890),
];

/// Carriers and the shape of their numbers.
pub(super) const CARRIERS: [(&str, &str); 5] = [
    ("DHL", "JD0146########"),
    ("PostNord", "00373#########SE"),
    ("DPD", "0982#######42"),
    ("GLS", "ZX######"),
    ("UPS", "1Z55A#########"),
];

/// Why an order was paid back.
pub(super) const REFUND_REASONS: [&str; 5] = [
    "The parcel was lost on the way.",
    "A seam had opened when it arrived.",
    "Wrong size, returned unworn.",
    "A part was missing and could not be sent in time.",
    "The customer changed their mind within 60 days.",
];

/// What colleagues noted.
pub(super) const NOTES: [(&str, &str); 8] = [
    ("Petra", "Customer asked for delivery after 17:00."),
    ("Sam", "Called to confirm the size; keep as ordered."),
    ("Petra", "Gift: please leave the invoice out of the parcel."),
    ("Idris", "Address checked with the customer, the house number was missing."),
    ("Sam", "Second order this month, offered free return shipping."),
    ("Idris", "Customer prefers to be written to, not called."),
    ("Petra", "Zip checked before packing, all fine."),
    ("Sam", "Asked to combine with the next order, too late for that."),
];
