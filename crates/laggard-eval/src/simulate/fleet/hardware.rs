//! The machines of a fleet: servers of one or more generations, their disks, and clients.

use laggard_core::model::component;
use laggard_core::model::random::Random;

/// Bytes per second.
pub(super) type Bandwidth = f64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Media {
    Hdd,
    Ssd,
    Nvme,
}

/// The role of a block device on its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    System,
    Data,
    /// Attached and never used: spares, loop devices, an optical drive.
    Idle,
    /// A logical volume on the system disk.
    Stacked,
}

/// Properties of a kind of disk. Times are in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DiskModel {
    pub media: Media,
    /// Outermost zone of an HDD; the bus of flash.
    pub bandwidth: Bandwidth,
    /// Track to track, and the part that grows with the root of the distance; 0 for flash.
    pub seek_us: (f64, f64),
    /// One revolution; 0 for flash.
    pub turn_us: f64,
    /// Flash: medians of reading and of writing a page.
    pub page_us: (f64, f64),
    pub channels: usize,
    /// Flash: mean bytes between garbage collections.
    pub collect_every: f64,
    pub sectors: u64,
}

impl DiskModel {
    /// Generation 0 is the newest. Each older one is slower by a third.
    pub(super) fn new(media: Media, generation: usize) -> DiskModel {
        let age = libm::pow(1.33, generation as f64);
        match media {
            Media::Hdd => DiskModel {
                media,
                bandwidth: 210e6 / age,
                seek_us: (700.0 * age, 12_500.0 * age),
                turn_us: 8_333.0,
                page_us: (0.0, 0.0),
                channels: 1,
                collect_every: f64::INFINITY,
                sectors: 15_628_053_168 >> generation,
            },
            Media::Ssd => DiskModel {
                media,
                bandwidth: 520e6 / age,
                seek_us: (0.0, 0.0),
                turn_us: 0.0,
                page_us: (95.0 * age, 45.0 * age),
                channels: 8,
                collect_every: 900e6,
                sectors: 3_750_748_848 >> generation,
            },
            Media::Nvme => DiskModel {
                media,
                bandwidth: 3_000e6 / age,
                seek_us: (0.0, 0.0),
                turn_us: 0.0,
                page_us: (75.0 * age, 18.0 * age),
                channels: 32,
                collect_every: 6_000e6,
                sectors: 7_501_476_528 >> generation,
            },
        }
    }

    /// Bandwidth left to a stream of 1 MiB requests that shares the disk with `others` streams.
    pub(super) fn stream_bandwidth(&self, others: usize) -> Bandwidth {
        let transfer_us = 1e6 * MIB / (0.75 * self.bandwidth);
        let positioning_us = match self.media {
            Media::Hdd => self.seek_us.0 + 0.4 * self.seek_us.1 + self.turn_us / 2.0,
            Media::Ssd | Media::Nvme => 0.0,
        };
        let positioning_us = if others == 0 { 0.3 * positioning_us } else { positioning_us };
        1e6 * MIB / (transfer_us + positioning_us) / (others + 1) as f64
    }

    /// Mean rates at a load of 100 %: small requests per second, bytes per second of streams.
    pub(super) fn usual_load(&self) -> (f64, Bandwidth) {
        match self.media {
            Media::Hdd => (14.0, 6e6),
            Media::Ssd => (45.0, 14e6),
            Media::Nvme => (70.0, 25e6),
        }
    }
}

pub(super) const MIB: f64 = 1_048_576.0;

/// A block device.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Device {
    pub name: String,
    pub role: Role,
    pub model: DiskModel,
    /// Service times of this specimen, relative to its model.
    pub nature: f64,
    /// Its number among all data disks of the fleet.
    pub number: Option<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Server {
    pub name: String,
    pub generation: usize,
    pub devices: Vec<Device>,
}

/// The machines and their network.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Machines {
    pub servers: Vec<Server>,
    pub clients: Vec<Server>,
    /// Of every data disk: its server, and its index among that server's devices.
    pub data: Vec<(usize, usize)>,
    /// The speed of a server's interface.
    pub link: Bandwidth,
}

/// The numbers of machines and devices.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sizes {
    pub servers: usize,
    pub clients: usize,
    pub disks: usize,
    pub spares: usize,
    pub generations: usize,
    pub media: Media,
    pub has_extras: bool,
}

/// Deviation of service times among disks of one model.
const SPREAD: f64 = 0.03;
const OF_NATURE: u64 = 101;
/// Speeds of Ethernet.
const SPEEDS: [Bandwidth; 4] = [125e6, 1_250e6, 3_125e6, 12_500e6];

impl Machines {
    pub(super) fn new(sizes: &Sizes, seed: u64) -> Machines {
        let mut random = Random::of(seed, &[OF_NATURE]);
        let mut data = Vec::new();
        let mut servers = Vec::new();
        for number in 0..sizes.servers {
            let generation = number * sizes.generations / sizes.servers;
            let mut devices = vec![system_disk(generation, &mut random)];
            for disk in 0..sizes.disks {
                data.push((number, devices.len()));
                devices.push(Device {
                    name: data_name(sizes.media, disk),
                    role: Role::Data,
                    model: DiskModel::new(sizes.media, generation),
                    nature: random.factor(SPREAD),
                    number: Some(data.len() - 1),
                });
            }
            for spare in sizes.disks..sizes.disks + sizes.spares {
                devices.push(unused(data_name(sizes.media, spare), sizes.media));
            }
            if sizes.has_extras {
                devices
                    .extend(["loop0", "loop1", "loop2", "sr0"].map(|name| unused(name.into(), Media::Hdd)));
                devices.push(Device { role: Role::Stacked, ..unused("dm-0".into(), Media::Ssd) });
            }
            servers.push(Server { name: format!("st{}", number + 1), generation, devices });
        }
        let clients = (0..sizes.clients).map(|number| Server {
            name: format!("cn{}", number + 1),
            generation: 0,
            devices: vec![system_disk(0, &mut random)],
        });
        let clients = clients.collect();
        let (small, stream) = DiskModel::new(sizes.media, 0).usual_load();
        let usual = sizes.disks as f64 * (stream + small * 24_000.0);
        let link = SPEEDS.into_iter().find(|&speed| speed > 4.0 * usual).unwrap_or(SPEEDS[3]);
        Machines { servers, clients, data, link }
    }

    pub(super) fn device(&self, disk: usize) -> &Device {
        let (server, device) = self.data[disk];
        &self.servers[server].devices[device]
    }

    pub(super) fn disk_name(&self, disk: usize) -> String {
        component::attachment(&self.servers[self.data[disk].0].name, &self.device(disk).name)
    }

    /// The data disks of a server.
    pub(super) fn disks_of(&self, server: usize) -> std::ops::Range<usize> {
        let start = self.data.partition_point(|(of, _)| *of < server);
        start..self.data.partition_point(|(of, _)| *of <= server)
    }
}

fn system_disk(generation: usize, random: &mut Random) -> Device {
    let model = DiskModel::new(Media::Ssd, generation);
    Device { name: "sda".into(), role: Role::System, model, nature: random.factor(SPREAD), number: None }
}

fn unused(name: String, media: Media) -> Device {
    Device { name, role: Role::Idle, model: DiskModel::new(media, 0), nature: 1.0, number: None }
}

/// `sdb` to `sdz`, `sdaa`, ...; `nvme0n1`, ....
fn data_name(media: Media, number: usize) -> String {
    if media == Media::Nvme {
        return format!("nvme{number}n1");
    }
    let letter = |number: usize| char::from(b'a' + (number % 26) as u8);
    match number + 1 {
        n if n < 26 => format!("sd{}", letter(n)),
        n => format!("sd{}{}", letter(n / 26 - 1), letter(n)),
    }
}

/// The address of a server or a client, as it is in the names of links.
pub(super) fn server_address(number: usize) -> String {
    format!("198.18.{}.{}", number / 250, number % 250 + 1)
}

pub(super) fn client_address(number: usize) -> String {
    format!("198.18.{}.{}", 100 + number / 250, number % 250 + 1)
}
