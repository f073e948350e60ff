import type { Command } from 'commander'
import type { Context } from '../context.ts'
import type { DoctorOptions } from '../doctor/doctor.ts'
import { withCredentialsOption } from '../options.ts'

/** `doctor [DOC]`: checks the installation, the credentials and the network, and says what to do about each fault. */
export function addDoctor(program: Command, context: Context): void {
  const command = program
    .command('doctor [document]')
    .description('check credentials, tokens and network, and say how to repair what is wrong')
  withCredentialsOption(command)
    .option('--offline', 'send no request')
    .option('--test', 'also send a small authorized request for each scheme of the document')
    .option('--json', 'print JSON')
    .action(
      context.run(async (name: string | undefined, options: DoctorOptions) =>
        (await import('../doctor/doctor.ts')).doctor(name, options, context),
      ),
    )
}
